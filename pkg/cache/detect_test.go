package cache

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/operon-dev/operon/pkg/client"
)

// findings collects what a detector reports.
type findings struct {
	mu  sync.Mutex
	all []Mutation
}

func (f *findings) add(m Mutation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, m)
}

func (f *findings) list() []Mutation {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.all)
}

func (f *findings) String() string {
	var lines []string
	for _, m := range f.list() {
		lines = append(lines, fmt.Sprintf("%s %s", m.Key, strings.Join(m.Fields, ",")))
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

// watchedOver is a started cache whose detector reports to the findings; stop ends it and waits.
func watchedOver(t *testing.T, s *testServer, opts Options) (c *stores, found *findings, stop func()) {
	t.Helper()
	found = &findings{}
	opts.OnMutation, opts.Mapper = found.add, testMapper()
	made, err := New(s.config(), opts)
	if err != nil {
		t.Fatal(err)
	}
	c = made.(*stores)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	<-c.crew.started.Done()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		c.options.HTTPClient.CloseIdleConnections()
	})
	t.Cleanup(stop)
	return c, found, stop
}

// Each way to get at a shared object, and what its reader writes into it.
func TestAWriteIntoASharedObjectIsFoundByObjectAndField(t *testing.T) {
	ctx := context.Background()
	key := client.ObjectKey{Namespace: "a", Name: "one"}
	unshared := &client.GetOptions{UnsafeDisableDeepCopy: ptr.To(true)}
	for name, c := range map[string]struct {
		do   func(t *testing.T, c *stores)
		want string
	}{
		"Lend, a label": {func(t *testing.T, c *stores) {
			cm, err := Lend[*corev1.ConfigMap](ctx, c, key)
			if err != nil {
				t.Fatal(err)
			}
			cm.Labels["app"] = "changed"
		}, "a/one metadata.labels[app]"},
		"Lend, several fields": {func(t *testing.T, c *stores) {
			cm, err := Lend[*corev1.ConfigMap](ctx, c, key)
			if err != nil {
				t.Fatal(err)
			}
			cm.Annotations, cm.Data["more"], cm.Finalizers = map[string]string{}, "x", append(cm.Finalizers, "f")
		}, "a/one metadata.annotations,metadata.finalizers,data[more]"},
		"All": {func(t *testing.T, c *stores) {
			all, err := All[*corev1.ConfigMap](ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			for cm := range all {
				if cm.Name == "two" {
					cm.OwnerReferences[0].Name = "another"
				}
			}
		}, "a/two metadata.ownerReferences[0].name"},
		"UnsafeDisableDeepCopy": {func(t *testing.T, c *stores) {
			var cm corev1.ConfigMap
			if err := c.Get(ctx, key, &cm, unshared); err != nil {
				t.Fatal(err)
			}
			cm.Name = "the reader's own"
			delete(cm.Data, "data")
		}, "a/one data[data]"},
		"unstructured": {func(t *testing.T, c *stores) {
			u := inForm(t, formFull, configMap("", "", nil, "")).(*unstructured.Unstructured)
			if err := c.Get(ctx, key, u, unshared); err != nil {
				t.Fatal(err)
			}
			u.Object["data"].(map[string]any)["data"] = "changed"
			u.Object["metadata"].(map[string]any)["labels"].(map[string]any)["example.com/x"] = "y"
		}, "a/one data.data,metadata.labels[example.com/x]"},
		"metadata": {func(t *testing.T, c *stores) {
			m := inForm(t, formMetadata, configMap("", "", nil, ""))
			if err := c.Get(ctx, key, &corev1.ConfigMap{}); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(ctx, key, m, unshared); err != nil {
				t.Fatal(err)
			}
			m.GetLabels()["app"] = "changed"
		}, "a/one metadata.labels[app]"},
		"an index function": {func(t *testing.T, c *stores) {
			err := c.IndexField(ctx, &corev1.ConfigMap{}, "f", func(o client.Object) []string {
				o.(*corev1.ConfigMap).Data["indexed"] = "yes"
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Get(ctx, client.ObjectKey{Namespace: "a", Name: "two"}, &corev1.ConfigMap{}); err != nil {
				t.Fatal(err)
			}
		}, "a/one data[indexed]; a/two data[indexed]"},
		"nothing but copies": {func(t *testing.T, c *stores) {
			var l corev1.ConfigMapList
			if err := c.List(ctx, &l); err != nil {
				t.Fatal(err)
			}
			for i := range l.Items {
				l.Items[i].Data["data"] = "changed"
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t)
			s.put("configmaps", configMap("a", "one", map[string]string{"app": "x"}, "1"))
			two := configMap("a", "two", map[string]string{"app": "x"}, "1")
			two.OwnerReferences = []metav1.OwnerReference{{Name: "o", UID: "u"}}
			s.put("configmaps", two)
			cache, found, stop := watchedOver(t, s, Options{DefaultCompact: ptr.To(true)})
			c.do(t, cache)
			stop()
			if found.String() != c.want {
				t.Errorf("found %q, want %q", found, c.want)
			}
			for _, m := range found.list() {
				if m.GVK != configMapKind || m.ResourceVersion == "" || !strings.Contains(m.String(), "ConfigMap a/") || !strings.Contains(m.String(), m.Fields[0]) {
					t.Errorf("mutation: %v", m)
				}
			}
		})
	}
}

// vandal is a handler that writes into what it is given.
type vandal struct {
	toolscache.ResourceEventHandlerFuncs
}

func TestAHandlerThatWritesIsNamedWhileTheCacheRuns(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", map[string]string{}, "1"))
	c, found, _ := watchedOver(t, s, Options{})
	i, err := c.GetInformer(t.Context(), &corev1.ConfigMap{})
	if err != nil {
		t.Fatal(err)
	}
	last := make(chan struct{})
	if _, err := i.AddEventHandler(&vandal{toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if obj.(*corev1.ConfigMap).Name == "two" {
				close(last)
			}
		},
		UpdateFunc: func(old, now any) { now.(*corev1.ConfigMap).BinaryData = map[string][]byte{"k": nil} },
	}}); err != nil {
		t.Fatal(err)
	}
	s.put("configmaps", configMap("a", "one", nil, "2"))
	s.put("configmaps", configMap("a", "two", nil, "2"))
	eventually(t, "the finding", func() bool { return len(found.list()) > 0 })
	m := found.list()[0]
	if m.During != "*cache.vandal" || m.Key.Name != "one" || m.Fields[0] != "binaryData" {
		t.Errorf("found %+v", m)
	}
	<-last
	if n := len(found.list()); n != 1 {
		t.Errorf("found %d times", n)
	}
}

// An object that has been replaced or deleted is looked at for a while: who has it may still write.
func TestAWriteIntoAVersionThatWasReplacedIsFound(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	var found findings
	b.s.detector = newDetector(found.add)
	admit := func(cm *corev1.ConfigMap) *entry {
		e := b.entry(cm)
		b.s.condense(e, nil)
		return e
	}
	b.s.replace(b.f, b.s.plan, []*entry{admit(thing("x", "u", "9"))}, "10")
	old, err := b.s.get(client.ObjectKey{Namespace: "a", Name: "x"}).view(b.s.resource, formTyped)
	if err != nil {
		t.Fatal(err)
	}
	b.s.watched(b.f, admit(thing("x", "u", "11")))
	now := time.Now()
	b.s.detector.checkAll(now)
	old.SetGenerateName("late")
	b.s.detector.checkAll(now.Add(memoryOfLoans))
	b.s.detector.checkAll(now.Add(memoryOfLoans))
	if found.String() != "a/x metadata.generateName" {
		t.Errorf("found %q", &found)
	}
	b.s.watched(b.f, admit(thing("x", "u", "12")))
	b.s.detector.checkAll(now)
	b.s.detector.checkAll(now.Add(memoryOfLoans + time.Second))
	if n := len(b.s.detector.loans); n != 0 {
		t.Errorf("%d loans are kept for ever", n)
	}
}

// The environment variable turns every cache of a program's tests into one that panics; the test runs itself with it.
func TestTheEnvironmentVariableMakesAMutationAPanic(t *testing.T) {
	if os.Getenv(mutationVariable) != "" {
		s := newTestServer(t)
		s.put("configmaps", configMap("a", "one", map[string]string{"app": "x"}, "1"))
		c := startCache(t, s, Options{})
		cm, err := Lend[*corev1.ConfigMap](t.Context(), c, client.ObjectKey{Namespace: "a", Name: "one"})
		if err != nil {
			t.Fatal(err)
		}
		cm.Labels["app"] = "changed"
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), mutationVariable+"=true")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "panic: ConfigMap a/one at resourceVersion 101: somebody wrote into metadata.labels[app]") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestNobodyLooksUnlessAsked(t *testing.T) {
	t.Setenv(mutationVariable, "")
	if newDetector(nil) != nil {
		t.Error("a detector nobody asked for")
	}
	c := podStore(t, 1)
	if e := c.all()[0].get(client.ObjectKeyFromObject(benchPod(0))); e.direct != e.form || e.derived.Load() != nil {
		t.Error("an entry costs more than its object")
	}
}

func TestDifferencesNamesFields(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"nothing":       {func(*corev1.Pod) {}, ""},
		"a string":      {func(p *corev1.Pod) { p.Spec.NodeName = "n" }, "spec.nodeName"},
		"in a list":     {func(p *corev1.Pod) { p.Spec.Containers[1].Env[0].Value = "x" }, "spec.containers[1].env[0].value"},
		"a longer list": {func(p *corev1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{}) }, "spec.tolerations[2]"},
		"a pointer":     {func(p *corev1.Pod) { p.Spec.EnableServiceLinks = ptr.To(false) }, "spec.enableServiceLinks"},
		"no pointer":    {func(p *corev1.Pod) { p.Spec.SecurityContext = nil }, "spec.securityContext"},
		"a quantity":    {func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits["memory"] = quantity.MustParse("1Gi") }, "spec.containers[0].resources.limits[memory]"},
		"the same in text": {func(p *corev1.Pod) {
			q := p.Spec.Containers[0].Resources.Limits["memory"]
			_ = q.String()
			p.Spec.Containers[0].Resources.Limits["memory"] = q
		}, ""},
		"a time":           {func(p *corev1.Pod) { p.Status.StartTime = &metav1.Time{Time: time.Unix(1, 0)} }, "status.startTime"},
		"another zone":     {func(p *corev1.Pod) { p.Status.StartTime.Time = p.Status.StartTime.UTC() }, ""},
		"a map and a kind": {func(p *corev1.Pod) { p.Kind = "X"; delete(p.Labels, "tier") }, "kind,metadata.labels[tier]"},
		"nil and empty":    {func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{} }, "spec.initContainers"},
		"very many": {func(p *corev1.Pod) {
			for i := range 20 {
				p.Labels[fmt.Sprintf("l%02d", i)] = ""
			}
		}, "metadata.labels[l00],metadata.labels[l01],metadata.labels[l02],metadata.labels[l03],metadata.labels[l04]," +
			"metadata.labels[l05],metadata.labels[l06],metadata.labels[l07],metadata.labels[l08],metadata.labels[l09]"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := benchPod(1), benchPod(1)
			c.change(b)
			if got := strings.Join(differences(a, b), ","); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
