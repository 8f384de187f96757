package certificates

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// leadingHere is a configuration with one webhook at the Service of inService, and without a bundle.
func leadingHere(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": name, "resourceVersion": "1"},
		"webhooks": []any{map[string]any{"clientConfig": map[string]any{"service": map[string]any{"namespace": "ns", "name": "svc"}}}},
	}}
}

// A watch that ends is begun again with a list, and somebody may look while that is taken over.
func TestAListNeverHidesATargetThatIsInIt(t *testing.T) {
	all := []any{leadingHere("one"), leadingHere("two"), leadingHere("three")}
	looks := 0
	var own *targets
	own = &targets{options: inService, byName: map[string]target{}, changed: func() {
		looks++
		if lacking, _ := own.lacking("bundle"); len(lacking) != len(all) {
			t.Errorf("look %d: %d of %d targets are known", looks, len(lacking), len(all))
		}
	}}
	for range 2 {
		if err := own.Replace(all, "1"); err != nil {
			t.Fatal(err)
		}
	}
	if looks == 0 {
		t.Error("nobody was told")
	}
	all = all[:1]
	if err := own.Replace(all, "2"); err != nil {
		t.Fatal(err)
	}
}

func TestWhatCertManagerFillsInIsLeftToIt(t *testing.T) {
	if len(targetsOf(leadingHere("ours"), inService)) != 1 {
		t.Fatal("the configuration leads elsewhere: the test shows nothing")
	}
	for _, annotation := range []string{"cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret", "cert-manager.io/inject-apiserver-ca"} {
		managed := leadingHere("managed")
		managed.SetAnnotations(map[string]string{annotation: "true"})
		if found := targetsOf(managed, inService); found != nil {
			t.Errorf("%s: the bundle would be put at %v", annotation, found)
		}
	}
}

func TestHostsAreRecognisedInURLs(t *testing.T) {
	for _, tc := range []struct {
		own, host string
		want      bool
	}{
		{"webhooks.example.com", "webhooks.example.com", true},
		{"webhooks.example.com", "webhooks.example.com:9443", true},
		{"webhooks.example.com", "Webhooks.Example.COM:9443", true},
		{"webhooks.example.com:9443", "webhooks.example.com:9443", true},
		{"webhooks.example.com:9443", "webhooks.example.com:443", false},
		{"webhooks.example.com:9443", "webhooks.example.com", false},
		{"webhooks.example.com:443", "webhooks.example.com", true},
		{"webhooks.example.com", "example.com", false},
		{"fd00::1", "[fd00::1]:9443", true},
		{"fd00::1", "[fd00::1]", true},
		{"[fd00::1]", "[fd00::1]:9443", true},
		{"[fd00::1]", "[fd00::1]", true},
		{"[fd00::1]:9443", "[fd00::1]:9443", true},
		{"[fd00::1]:9443", "[fd00::1]:443", false},
		{"[fd00:0::1]:9443", "[fd00::1]:9443", true},
	} {
		if got := (Options{Hosts: []string{tc.own}}).reachedBy(tc.host); got != tc.want {
			t.Errorf("host %s of a URL is at %s: %v, want %v", tc.host, tc.own, got, tc.want)
		}
	}
}
