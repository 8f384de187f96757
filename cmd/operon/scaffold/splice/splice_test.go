package splice

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const mainGo = `package main

import (
	"os"

	ctrl "github.com/operon-dev/operon"
	// +kubebuilder:scaffold:imports
)

func init() {
	must(a.AddToScheme(scheme))
	// +kubebuilder:scaffold:scheme
}

func main() {
	if err := (&controller.MemcachedReconciler{
		Client: mgr.GetClient(),
	}).SetupWithManager(mgr); err != nil {
		os.Exit(1)
	}
	// nolint:goconst
	if os.Getenv("ENABLE_WEBHOOKS") != "false" {
		if err := webhookv1.SetupMemcachedWebhookWithManager(mgr); err != nil {
			os.Exit(1)
		}
		if err := webhookv1.SetupRedisWebhookWithManager(mgr); err != nil {
			os.Exit(1)
		}
	}
	// +kubebuilder:scaffold:builder
}
`

func TestBeforeMarkerAddsOnceWithTheMarkersIndentation(t *testing.T) {
	once, err := BeforeMarker(mainGo, "scheme", "must(b.AddToScheme(scheme))")
	if err != nil || !strings.Contains(once, "\tmust(b.AddToScheme(scheme))\n\t// +kubebuilder:scaffold:scheme\n") {
		t.Errorf("BeforeMarker: %v\n%s", err, once)
	}
	twice, err := BeforeMarker(once, "scheme", "must(b.AddToScheme(scheme))")
	if err != nil || twice != once {
		t.Errorf("a second time (-once +twice):\n%s", cmp.Diff(once, twice))
	}
	if _, err := BeforeMarker(mainGo, "schem", "x"); err == nil || !strings.Contains(err.Error(), `"+kubebuilder:scaffold:schem" is missing`) {
		t.Errorf("a marker that is not there: %v", err)
	}
}

func TestAddImportSetsOwnersApartAndKeepsNames(t *testing.T) {
	src, name, err := AddImport(mainGo, "cachev1", "example.com/operator/api/v1")
	if err != nil || name != "cachev1" {
		t.Fatal(name, err)
	}
	src, _, err = AddImport(src, "controller", "example.com/operator/internal/controller")
	if err != nil {
		t.Fatal(err)
	}
	want := `	ctrl "github.com/operon-dev/operon"

	cachev1 "example.com/operator/api/v1"
	"example.com/operator/internal/controller"
	// +kubebuilder:scaffold:imports
`
	if !strings.Contains(src, want) {
		t.Errorf("imports:\n%s", src)
	}
	again, name, err := AddImport(src, "other", "example.com/operator/api/v1")
	if err != nil || name != "cachev1" || again != src {
		t.Errorf("an import that is there: %s, %v", name, err)
	}

	bare := "package p\n\nimport (\n\tctrl \"github.com/operon-dev/operon\"\n)\n"
	bare, _, err = AddImport(bare, "context", "context")
	if err != nil || bare != "package p\n\nimport (\n\t\"context\"\n\n\tctrl \"github.com/operon-dev/operon\"\n)\n" {
		t.Errorf("standard library, without a marker: %v\n%s", err, bare)
	}

	own := "package p\n\nimport (\n\tctrl \"github.com/operon-dev/operon\"\n\n\tappsv1 \"app/api/v1\"\n)\n"
	own, _, err = AddImport(own, "context", "context")
	if err == nil {
		own, _, err = AddImport(own, "controller", "app/internal/controller")
	}
	want = "package p\n\nimport (\n\t\"context\"\n\n\tctrl \"github.com/operon-dev/operon\"\n\n\tappsv1 \"app/api/v1\"\n\t\"app/internal/controller\"\n)\n"
	if err != nil || own != want {
		t.Errorf("a module of one word: %v\n%s", err, own)
	}
}

func TestRemoveStatementTakesNoMoreThanIsMeant(t *testing.T) {
	src, err := RemoveStatement(mainGo, "controller.MemcachedReconciler{")
	if err != nil || strings.Contains(src, "Reconciler") || !strings.Contains(src, "SetupMemcachedWebhook") {
		t.Errorf("controller: %v\n%s", err, src)
	}
	src, err = RemoveStatement(src, ".SetupMemcachedWebhookWithManager(")
	if err != nil || strings.Contains(src, "SetupMemcached") || !strings.Contains(src, "SetupRedis") || !strings.Contains(src, "ENABLE_WEBHOOKS") {
		t.Errorf("one of two under a condition: %v\n%s", err, src)
	}
	src, err = RemoveStatement(src, ".SetupRedisWebhookWithManager(")
	if err != nil || strings.Contains(src, "ENABLE_WEBHOOKS") || strings.Contains(src, "nolint") || !strings.Contains(src, "scaffold:builder") {
		t.Errorf("the last under a condition: %v\n%s", err, src)
	}
	if same, err := RemoveStatement(src, "nothing(like(this"); err != nil || same != src {
		t.Errorf("what is not there: %v", err)
	}
	if src, err = RemoveUnusedImport(src, "os"); err != nil || strings.Contains(src, `"os"`) {
		t.Errorf("import: %v\n%s", err, src)
	}
}

func TestHasKnowsWhereANameBegins(t *testing.T) {
	const text = "controller.Reconciler{"
	for src, want := range map[string]bool{
		"(&controller.Reconciler{": true, "controller.Reconciler{": true, "shipcontroller.Reconciler{ controller.Reconciler{": true,
		"shipcontroller.Reconciler{": false, "_controller.Reconciler{": false, "ücontroller.Reconciler{": false, "controller.Other{": false,
	} {
		if Has(src, text) != want {
			t.Errorf("Has(%q): %v", src, !want)
		}
	}
	if !Has("x.Setup(", ".Setup(") {
		t.Error("a text that begins no name is not found after one")
	}
}

func TestAddToDeclarationFindsTheMarkersOfAType(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"in a comment of their own", "package p\n\n// +kubebuilder:object:root=true\n\n// K is.\ntype K struct{}\n",
			"package p\n\n// +kubebuilder:object:root=true\n// +mark\n\n// K is.\ntype K struct{}\n"},
		{"in the doc comment", "package p\n\n// K is.\n// +kubebuilder:object:root=true\ntype K struct{}\n",
			"package p\n\n// +mark\n// K is.\n// +kubebuilder:object:root=true\ntype K struct{}\n"},
		{"there already", "package p\n\n// +kubebuilder:object:root=true\n// +mark\n\n// K is.\ntype K struct{}\n",
			"package p\n\n// +kubebuilder:object:root=true\n// +mark\n\n// K is.\ntype K struct{}\n"},
		{"none", "package p\n\ntype K struct{}\n", "package p\n\n// +mark\ntype K struct{}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := AddToDeclaration(tt.src, "K", "// +mark")
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if _, err := AddToDeclaration("package p\n", "K", "// +mark"); err == nil {
		t.Error("a type that is not there was found")
	}
}

func TestChains(t *testing.T) {
	const src = "package p\n\nfunc Setup(m M) error {\n\treturn New(m).\n\t\tComplete()\n}\n"
	added, err := AddToChain(src, "Setup", "WithValidator(&V{})")
	if err != nil || !strings.Contains(added, "\t\tWithValidator(&V{}).\n\t\tComplete()\n") {
		t.Errorf("AddToChain: %v\n%s", err, added)
	}
	again, err := AddToChain(added, "Setup", "WithValidator(&Other{})")
	if err != nil || again != added {
		t.Errorf("a method that is called already: %v\n%s", err, again)
	}
	if _, err := AddToChain("package p\n", "Setup", "X()"); err == nil || !strings.Contains(err.Error(), "func Setup") {
		t.Errorf("no such function: %v", err)
	}
}

func TestItemsOfLists(t *testing.T) {
	const text = "resources:\n- a\n# why\n#- ../b\n\npatches: []\n"
	for _, tt := range []struct{ name, key, item, want string }{
		{"there", "resources", "- a", text},
		{"a comment", "resources", "- ../b", "resources:\n- a\n# why\n- ../b\n\npatches: []\n"},
		{"new", "resources", "- c", "resources:\n- a\n- c\n# why\n#- ../b\n\npatches: []\n"},
		{"in an empty list", "patches", "- path: p\n  target: t", "resources:\n- a\n# why\n#- ../b\n\npatches:\n- path: p\n  target: t\n"},
		{"in a list that is not there", "replacements", "- r", text + "\nreplacements:\n- r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := EnsureItem(text, tt.key, tt.item)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if !HasItem(got, tt.item) {
				t.Error("HasItem does not find it")
			}
			if again, err := EnsureItem(got, tt.key, tt.item); err != nil || again != got {
				t.Errorf("a second time: %v\n%s", err, again)
			}
		})
	}
	if _, err := EnsureItem("resources: [a, b]\n", "resources", "- c"); err == nil || !strings.Contains(err.Error(), "one item a line") {
		t.Errorf("flow style: %v", err)
	}
	if got := RemoveItem("l:\n- a: 1\n  b: 2\n- c\n", "- a: 1"); got != "l:\n- c\n" {
		t.Errorf("RemoveItem: %q", got)
	}
	if got := RemoveEmptyList("a: b\n\nl:\n# why\n", "l"); got != "a: b\n# why\n" {
		t.Errorf("RemoveEmptyList: %q", got)
	}
	if diff := cmp.Diff([]string{"a"}, Items("k:\n- a\n# - b\nother:\n- c\n", "k")); diff != "" {
		t.Errorf("Items:\n%s", diff)
	}
}

func FuzzLists(f *testing.F) {
	f.Add("resources:\n- a\n#- ../b\n", "resources", "- ../b")
	f.Add("#patches:\n", "patches", "- path: p\n  target: t")
	f.Fuzz(func(t *testing.T, text, key, item string) {
		if key == "" || strings.ContainsAny(key, "\n#: -") || !strings.HasPrefix(item, "- ") || strings.ContainsAny(item, "#\r") || strings.TrimSpace(item[2:]) == "" {
			t.Skip("not a list and an item of it")
		}
		got, err := EnsureItem(text, key, item)
		if err != nil {
			return
		}
		if !HasItem(got, item) {
			t.Fatalf("the item is not there:\n%s", got)
		}
		if again, err := EnsureItem(got, key, item); err != nil || again != got {
			t.Errorf("a second time: %v\n%q\n%q", err, got, again)
		}
	})
}

func TestFieldsOfALiteralInACall(t *testing.T) {
	const field = "Third: three()"
	for name, src := range map[string]string{
		"lines":    "package main\n\nfunc main() {\n\tmgr, err := ctrl.New(config(), ctrl.Options{\n\t\tFirst: 1, // the first\n\t})\n}\n",
		"one line": "package main\n\nvar mgr = must(ctrl.New(ctrl.Options{First: 1, Second: 2}))\n",
		"empty":    "package main\n\nvar mgr = ctrl.New(ctrl.Options{})\n",
	} {
		t.Run(name, func(t *testing.T) {
			added, err := AddField(src, "New", field)
			if err != nil || strings.Count(added, field) != 1 || !strings.Contains(added, "ctrl.Options{\n") {
				t.Fatalf("AddField: %v\n%s", err, added)
			}
			removed, err := RemoveField(added, field)
			if err != nil || strings.Contains(removed, field) {
				t.Fatalf("RemoveField: %v\n%s", err, removed)
			}
			if diff := cmp.Diff(src, removed); diff != "" {
				t.Errorf("added and removed (-was +is):\n%s", diff)
			}
		})
	}
	if src, err := AddField("package main\n\nvar mgr = ctrl.New(options)\n", "New", field); err == nil || !strings.Contains(err.Error(), `"Third: three()"`) {
		t.Errorf("AddField where there is no literal: %v\n%s", err, src)
	}
}
