package nodes_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// kubectl runs `operon kubectl` in the namespace and returns what it prints; it fails the test if kubectl fails.
func (c *cluster) kubectl(t *testing.T, ns string, args ...string) string {
	t.Helper()
	out, err := c.tryKubectl(t, ns, args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (c *cluster) tryKubectl(t *testing.T, ns string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Getenv("OPERON"), append([]string{"kubectl", "--namespace", ns}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func TestWalkWithKubectl(t *testing.T) {
	c, ns := start(t)
	for _, step := range []struct {
		args string // of kubectl, after UNTIL repeated until they print what is wanted
		want string // a pattern for the whole output, spaces standing for any
	}{
		{"get nodes", `NAME STATUS ROLES AGE VERSION operon-node-0 Ready <none> \S+ v1.37.1 operon-node-1 Ready <none> \S+ v1.37.1 operon-node-2 Ready <none> \S+ v1.37.1`},
		{"create deployment web --image=web:1 --replicas=2", `deployment.apps/web created`},
		{"rollout status deployment/web --timeout=30s", `.*deployment "web" successfully rolled out`},
		{"get pods", `NAME READY STATUS RESTARTS AGE web-\S+ 1/1 Running 0 \S+ web-\S+ 1/1 Running 0 \S+`},
		{"expose deployment web --port=80", `service/web exposed`},
		{"scale deployment/web --replicas=4", `deployment.apps/web scaled`},
		{"wait deployment/web --for=jsonpath={.status.availableReplicas}=4 --timeout=30s", `deployment.apps/web condition met`},
		{"wait pod --all --for=condition=Ready --timeout=30s", `(pod/web-\S+ condition met ?){4}`},
		// kubectl wait takes an endpoint that is not there yet for an error.
		{"UNTIL get endpointslice -l kubernetes.io/service-name=web -o jsonpath={.items[*].endpoints[*].conditions.ready}", `true true true true`},
		{"set image deployment/web web=web:2", `deployment.apps/web image updated`},
		{"rollout status deployment/web --timeout=30s", `.*deployment "web" successfully rolled out`},
		{"describe pods --show-events", `.*Status: Running.*IP: 10\.128\..*Normal Started \S+ kubelet spec.containers{web}: Container started.*`},
		{"run once --image=once:1 --restart=Never", `pod/once created`},
		{"wait pod/once --for=jsonpath={.status.phase}=Succeeded --timeout=30s", `pod/once condition met`},
		{"get pod once", `NAME READY STATUS RESTARTS AGE once 0/1 Completed 0 \S+`},
		{"delete pod once --timeout=30s", `pod "once" deleted.*`},
		{"run broken --image=broken:1 --annotations=sim.operon.dev/waiting-reason=ImagePullBackOff", `pod/broken created`},
		{"wait pod/broken --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff --timeout=30s", `pod/broken condition met`},
		{"get pod broken", `NAME READY STATUS RESTARTS AGE broken 0/1 ImagePullBackOff 0 \S+`},
		{"annotate pod broken sim.operon.dev/waiting-reason-", `pod/broken annotated`},
		{"wait pod/broken --for=condition=Ready --timeout=30s", `pod/broken condition met`},
		{"drain operon-node-1 --force --ignore-daemonsets --timeout=30s", `.*node/operon-node-1 drained`},
		{"uncordon operon-node-1", `node/operon-node-1 uncordoned`},
		{"rollout status deployment/web --timeout=30s", `.*deployment "web" successfully rolled out`},
		{"delete deployment web --cascade=foreground --timeout=30s", `deployment.apps "web" deleted.*`},
		{"delete pods --all --timeout=30s", `.*`},
		{"get pods", `No resources found in \S+ namespace.`},
	} {
		args, repeat := strings.CutPrefix(step.args, "UNTIL ")
		want := regexp.MustCompile(`^(?:` + step.want + `)$`)
		words := ""
		for deadline := time.Now().Add(time.Minute); ; {
			words = strings.Join(strings.Fields(c.kubectl(t, ns, strings.Fields(args)...)), " ")
			if !repeat || want.MatchString(words) || time.Now().After(deadline) {
				break
			}
		}
		if !want.MatchString(words) {
			t.Errorf("kubectl %s\nprinted %s\nwant    %s", step.args, words, step.want)
		}
	}
}
