package filters

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr/testr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/envtest"
)

// api answers reviews like an API server that knows the tokens alice and bob, and lets alice get /metrics.
type api struct {
	tokenReviews, accessReviews atomic.Int64
	down                        atomic.Bool
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.down.Load() {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasSuffix(r.URL.Path, "/tokenreviews"):
		a.tokenReviews.Add(1)
		var review authenticationv1.TokenReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if user := review.Spec.Token; user == "alice" || user == "bob" {
			review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: user, Groups: []string{"people"}}}
		}
		json.NewEncoder(w).Encode(review)
	case strings.HasSuffix(r.URL.Path, "/subjectaccessreviews"):
		a.accessReviews.Add(1)
		var review authorizationv1.SubjectAccessReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		on := review.Spec.NonResourceAttributes
		review.Status.Allowed = review.Spec.User == "alice" && on.Path == "/metrics" && on.Verb == "get" && review.Spec.Groups[0] == "people"
		json.NewEncoder(w).Encode(review)
	default:
		http.NotFound(w, r)
	}
}

// guarded is a handler behind the filter, and what it was called with.
func guarded(t *testing.T, config *rest.Config) (h http.Handler, calls *atomic.Int64) {
	t.Helper()
	filter, err := WithAuthenticationAndAuthorization(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls = &atomic.Int64{}
	h, err = filter(testr.New(t), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if r.Header.Get("Authorization") != "" {
			t.Error("the token was passed on")
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	return h, calls
}

func ask(h http.Handler, method, path, authorization string) int {
	r := httptest.NewRequest(method, path, nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func TestOnlyThoseWithTheRightGetIn(t *testing.T) {
	a := &api{}
	s := httptest.NewServer(a)
	defer s.Close()
	h, calls := guarded(t, &rest.Config{Host: s.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	for _, tc := range []struct {
		name, method, path, authorization string
		want                              int
	}{
		{"no token", "GET", "/metrics", "", 401},
		{"another scheme", "GET", "/metrics", "Basic YWxpY2U6", 401},
		{"scheme without token", "GET", "/metrics", "Bearer ", 401},
		{"unknown token", "GET", "/metrics", "Bearer mallory", 401},
		{"known, no right", "GET", "/metrics", "Bearer bob", 403},
		{"another path", "GET", "/debug/pprof/", "Bearer alice", 403},
		{"another method", "POST", "/metrics", "Bearer alice", 403},
		{"known and allowed", "GET", "/metrics", "Bearer alice", 200},
		{"the scheme's case does not matter", "GET", "/metrics", "bearer alice", 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := calls.Load()
			if got := ask(h, tc.method, tc.path, tc.authorization); got != tc.want {
				t.Errorf("status %d, want %d", got, tc.want)
			}
			if called := calls.Load() > before; called != (tc.want == 200) {
				t.Errorf("handler called: %t", called)
			}
		})
	}
}

func TestAnswersAreRememberedButNotRefusedTokens(t *testing.T) {
	a := &api{}
	s := httptest.NewServer(a)
	defer s.Close()
	h, _ := guarded(t, &rest.Config{Host: s.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	for range 3 {
		ask(h, "GET", "/metrics", "Bearer alice")
		ask(h, "GET", "/metrics", "Bearer mallory")
	}
	if tokens, access := a.tokenReviews.Load(), a.accessReviews.Load(); tokens != 1+3 || access != 1 {
		t.Errorf("%d token reviews and %d access reviews, want 4 and 1", tokens, access)
	}
	// What is known goes on working while the API server does not.
	a.down.Store(true)
	if got := ask(h, "GET", "/metrics", "Bearer alice"); got != 200 {
		t.Errorf("status %d for a remembered token", got)
	}
	if got := ask(h, "GET", "/metrics", "Bearer bob"); got != 500 {
		t.Errorf("status %d for a token that nobody can confirm, want 500", got)
	}
}

func TestAConfigurationIsNeeded(t *testing.T) {
	if _, err := WithAuthenticationAndAuthorization(nil, nil); err == nil {
		t.Error("no error without a configuration")
	}
}

func TestARealAPIServerDecides(t *testing.T) {
	if os.Getenv("OPERON") == "" {
		t.Skip("OPERON does not name the operon binary, which starts the API server")
	}
	env := &envtest.Environment{}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	ctx := t.Context()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string]string{}
	for _, name := range []string{"prometheus", "nobody"} {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := c.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		token, err := c.CoreV1().ServiceAccounts("default").CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		tokens[name] = token.Status.Token
	}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "metrics-reader"},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	if _, err := c.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "metrics-reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "prometheus"}},
	}
	if _, err := c.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	// The API server's own view of RBAC follows within moments; a denial is remembered, so each try is a filter of its own.
	var got int
	for range 500 {
		h, _ := guarded(t, config)
		if got = ask(h, "GET", "/metrics", "Bearer "+tokens["prometheus"]); got == 200 {
			break
		}
	}
	if got != 200 {
		t.Errorf("status %d for a service account that may read metrics", got)
	}
	h, _ := guarded(t, config)
	if got := ask(h, "GET", "/metrics", "Bearer "+tokens["nobody"]); got != 403 {
		t.Errorf("status %d for a service account that may not, want 403", got)
	}
	if got := ask(h, "GET", "/metrics", "Bearer "+tokens["prometheus"]+"x"); got != 401 {
		t.Errorf("status %d for a token that was tampered with, want 401", got)
	}
}
