package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// dialogue gives orders and reads the answers.
type dialogue struct {
	conn  net.Conn
	lines *bufio.Scanner
}

// borrow connects to a cluster that lends itself and returns what it says first.
func borrow(t *testing.T, socket string) (*dialogue, string) {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	d := &dialogue{conn: conn, lines: bufio.NewScanner(conn)}
	return d, d.read(t)
}

func (d *dialogue) read(t *testing.T) string {
	t.Helper()
	if err := d.conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if !d.lines.Scan() {
		t.Fatalf("no answer: %v", d.lines.Err())
	}
	return d.lines.Text()
}

func (d *dialogue) order(t *testing.T, order string) string {
	t.Helper()
	if _, err := fmt.Fprintln(d.conn, order); err != nil {
		t.Fatal(err)
	}
	return d.read(t)
}

func TestALentClusterObeysItsBorrowerAndComesBackClean(t *testing.T) {
	ctx := t.Context()
	socket := filepath.Join(t.TempDir(), "s")
	p := start(t, "--api-only", "--nodes=0", "--lend="+socket, "--idle=1s")
	first, greeting := borrow(t, socket)
	kubeconfig, lent := strings.CutPrefix(greeting, "kubeconfig ")
	if !lent || kubeconfig != p.kubeconfig {
		t.Fatalf("greeting %q, want the kubeconfig %s", greeting, p.kubeconfig)
	}
	if _, said := borrow(t, socket); said != "busy" {
		t.Errorf("a second borrower hears %q", said)
	}
	admin, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	create := func(name string) {
		t.Helper()
		if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	there := func(name string) bool {
		_, err := client.CoreV1().ConfigMaps("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		return err == nil
	}

	if said := first.order(t, "reset"); !strings.HasPrefix(said, "error: nothing is marked") {
		t.Errorf("reset without a mark: %q", said)
	}
	if said := first.order(t, "dance"); !strings.HasPrefix(said, `error: "dance" is not an order`) {
		t.Errorf("dance: %q", said)
	}
	create("kept")
	if said := first.order(t, "mark"); !strings.HasPrefix(said, "mark in ") {
		t.Errorf("mark: %q", said)
	}
	create("gone")
	if said := first.order(t, "reset"); !strings.HasPrefix(said, "reset in ") || !there("kept") || there("gone") {
		t.Errorf("reset: %q, kept %t, gone %t", said, there("kept"), there("gone"))
	}

	said, signed := strings.CutPrefix(first.order(t, `sign {"name":"jane","groups":["system:masters"]}`), "sign ")
	var issued struct{ Cert, Key string }
	if err := json.Unmarshal([]byte(said), &issued); err != nil || !signed {
		t.Fatalf("sign: %q, %v", said, err)
	}
	if _, err := tls.X509KeyPair([]byte(issued.Cert), []byte(issued.Key)); err != nil {
		t.Error(err)
	}
	jane, err := kubernetes.NewForConfig(&rest.Config{Host: admin.Host, TLSClientConfig: rest.TLSClientConfig{
		CAData: admin.CAData, CertData: []byte(issued.Cert), KeyData: []byte(issued.Key),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jane.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("jane: %v", err)
	}
	for _, bad := range []string{"sign", "sign {}", "sign []"} {
		if said := first.order(t, bad); !strings.HasPrefix(said, "error: ") {
			t.Errorf("%s: %q", bad, said)
		}
	}

	// Without a word of goodbye, as when it is killed.
	if err := first.conn.Close(); err != nil {
		t.Fatal(err)
	}
	var second *dialogue
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if second, said = borrow(t, socket); said != "busy" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the cluster did not come back")
		}
	}
	if there("kept") {
		t.Error("the second borrower finds what the first one made")
	}
	if err := second.conn.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.exited:
		if p.err != nil {
			t.Errorf("idle, the cluster ended with %v\n%s", p.err, p.stderr)
		}
	case <-time.After(time.Minute):
		t.Error("nobody wants the cluster, and it is still there")
	}
}

func TestFlagsOfTheAPIServerAreChecked(t *testing.T) {
	for args, want := range map[string]string{
		"--kube-apiserver-arg=secure-port=1":              "operon cluster decides this itself",
		"--kube-apiserver-arg=no-such-flag=1":             "there is no such flag",
		"--kube-apiserver-arg=v":                          "it needs a value",
		"--kube-apiserver-arg=max-requests-inflight=many": "invalid",
		"--api-only --nodes=2":                            "leave out --nodes or --api-only",
		"--lend=/dev/null/socket":                         "choose another --lend",
	} {
		t.Run(args, func(t *testing.T) {
			p := launch(t, strings.Fields(args)...)
			<-p.exited
			said := strings.TrimSpace(p.stderr.String())
			last := said[strings.LastIndexByte(said, '\n')+1:]
			if p.err == nil || !strings.HasPrefix(last, "operon: ") || !strings.Contains(last, want) {
				t.Errorf("%v, %q; want %q", p.err, last, want)
			}
		})
	}
}

func TestFlagsOfTheAPIServerCount(t *testing.T) {
	p := start(t, "--api-only", "--kube-apiserver-arg=runtime-config=admissionregistration.k8s.io/v1beta1=true", "--kube-apiserver-arg=anonymous-auth=false")
	if out, err := p.kubectl(t, "", "api-versions"); err != nil {
		t.Errorf("%v %s", err, out)
	}
	if _, err := p.client(t).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	conn := &rest.Config{Host: p.config(t).Host, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	nobody, err := kubernetes.NewForConfig(conn)
	if err != nil {
		t.Fatal(err)
	}
	if err := nobody.Discovery().RESTClient().Get().AbsPath("/readyz").Do(t.Context()).Error(); !apierrors.IsUnauthorized(err) {
		t.Errorf("with anonymous-auth=false, nobody gets %v", err)
	}
}
