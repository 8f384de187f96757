package process

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArgumentsLieOverDefaults(t *testing.T) {
	defaults := map[string][]string{"a": {"1"}, "b": {"1", "2"}, "name-only": {}}
	for name, tc := range map[string]struct {
		change func(*Arguments)
		want   []string
	}{
		"nothing":             {func(*Arguments) {}, []string{"--a=1", "--b=1", "--b=2", "--name-only"}},
		"set":                 {func(a *Arguments) { a.Set("a", "9") }, []string{"--a=9", "--b=1", "--b=2", "--name-only"}},
		"set nothing":         {func(a *Arguments) { a.Set("a") }, []string{"--a", "--b=1", "--b=2", "--name-only"}},
		"append":              {func(a *Arguments) { a.Append("b", "3").Append("b", "4") }, []string{"--a=1", "--b=1", "--b=2", "--b=3", "--b=4", "--name-only"}},
		"append over":         {func(a *Arguments) { a.AppendNoDefaults("b", "3").Append("b", "4") }, []string{"--a=1", "--b=3", "--b=4", "--name-only"}},
		"disable":             {func(a *Arguments) { a.Disable("a").Disable("unknown") }, []string{"--b=1", "--b=2", "--name-only"}},
		"enable":              {func(a *Arguments) { a.Enable("a").Enable("c") }, []string{"--a", "--b=1", "--b=2", "--c", "--name-only"}},
		"enable, then append": {func(a *Arguments) { a.Enable("a").Append("a", "2") }, []string{"--a=2", "--b=1", "--b=2", "--name-only"}},
		"computed": {func(a *Arguments) {
			a.SetRaw("a", FuncArg(func(defaults []string) []string { return []string{defaults[0] + "!"} })).Append("a", "lost")
		}, []string{"--a=1!", "--b=1", "--b=2", "--name-only"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := EmptyArguments()
			tc.change(a)
			if diff := cmp.Diff(tc.want, a.AsStrings(defaults)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := EmptyArguments().Get("a"); got != nil {
		t.Errorf("a flag that was never mentioned is %v", got)
	}
	if got := EmptyArguments().Append("a", "2").Get("a").Get([]string{"1"}); cmp.Diff([]string{"1", "2"}, got) != "" {
		t.Errorf("values = %v", got)
	}
}

func TestTemplatesBecomeFlags(t *testing.T) {
	a := EmptyArguments()
	rest, err := a.AddTemplates([]string{"--dir={{ .Dir }}", "--bare", "{{ if .None }}--none=1{{ end }}", "word"}, struct {
		Dir  string
		None bool
	}{Dir: "/d"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"--dir=/d"}, a.AsStrings(map[string][]string{"dir": {"/default"}})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"--bare", "word"}, rest); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"{{", "{{ .Unknown }}"} {
		if _, err := a.AddTemplates([]string{bad}, struct{}{}); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestListenAddrIsCompleted(t *testing.T) {
	addr := &ListenAddr{}
	if err := addr.Complete(); err != nil {
		t.Fatal(err)
	}
	if addr.Address != "127.0.0.1" || addr.Port == "" || addr.Port == "0" {
		t.Errorf("address = %v", addr)
	}
	given := &ListenAddr{Address: "::1", Port: "7"}
	if err := given.Complete(); err != nil || given.URL("https", "/p").String() != "https://[::1]:7/p" {
		t.Errorf("%v, %v", given.URL("https", "/p"), err)
	}
}
