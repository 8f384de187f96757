package filters

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/metrics/server"
)

// How long the API server's answers are remembered, and how many of each kind. The times are those that Kubernetes'
// own components use for delegated authentication and authorization.
const (
	knownFor   = time.Minute
	allowedFor = 5 * time.Minute
	deniedFor  = 30 * time.Second
	remembered = 1024

	reviewTimeout = 10 * time.Second
)

// WithAuthenticationAndAuthorization returns a filter that lets in whom the API server that config leads to knows by their bearer
// token and allows the request's path and method, as in
//
//	nonResourceURLs: ["/metrics"]
//	verbs: ["get"]
//
// The program itself needs the right to create tokenreviews.authentication.k8s.io and subjectaccessreviews.authorization.k8s.io.
// A confirmed token is remembered for a minute, a granted right for five and a denied one for half a minute, 1024 of each at most.
//
// httpClient may be nil; config then makes one.
func WithAuthenticationAndAuthorization(config *rest.Config, httpClient *http.Client) (server.Filter, error) {
	if config == nil {
		return nil, errors.New("metrics filter without a configuration of the API server to ask")
	}
	if httpClient == nil {
		c, err := rest.HTTPClientFor(config)
		if err != nil {
			return nil, fmt.Errorf("http client for %s: %w", config.Host, err)
		}
		httpClient = c
	}
	authentication, err := authenticationclient.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("authentication at %s: %w", config.Host, err)
	}
	authorization, err := authorizationclient.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("authorization at %s: %w", config.Host, err)
	}
	g := &guard{
		tokens: authentication.TokenReviews(),
		access: authorization.SubjectAccessReviews(),
		users:  cache.NewLRUExpireCache(remembered),
		rights: cache.NewLRUExpireCache(remembered),
	}
	return func(log logr.Logger, next http.Handler) (http.Handler, error) {
		return g.around(log, next), nil
	}, nil
}

type guard struct {
	tokens authenticationclient.TokenReviewInterface
	access authorizationclient.SubjectAccessReviewInterface
	users  *cache.LRUExpireCache // tokenKey → authenticationv1.UserInfo
	rights *cache.LRUExpireCache // rightKey → bool
}

type tokenKey [sha256.Size]byte

// rightKey is about a token, not a user: two tokens of one user may carry different groups.
type rightKey struct {
	token      tokenKey
	verb, path string
}

func (g *guard) around(log logr.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := bearerToken(r)
		if token == "" {
			unauthorized(w)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), reviewTimeout)
		defer cancel()
		key := tokenKey(sha256.Sum256([]byte(token)))
		user, known, err := g.user(ctx, key, token)
		if err != nil {
			log.Error(err, "Authentication failed")
			http.Error(w, "Authentication failed", http.StatusInternalServerError)
			return
		}
		if !known {
			unauthorized(w)
			return
		}
		right := rightKey{token: key, verb: strings.ToLower(r.Method), path: r.URL.Path}
		allowed, err := g.allowed(ctx, right, user)
		if err != nil {
			log.Error(err, "Authorization failed", "user", user.Username)
			http.Error(w, "Authorization failed", http.StatusInternalServerError)
			return
		}
		if !allowed {
			log.V(4).Info("Access denied", "user", user.Username, "verb", right.verb, "path", right.path)
			http.Error(w, fmt.Sprintf("Access denied to user %s", user.Username), http.StatusForbidden)
			return
		}
		r = r.Clone(r.Context())
		r.Header.Del("Authorization")
		next.ServeHTTP(w, r)
	})
}

// unauthorized names the scheme that is asked for, as RFC 9110, section 11.6.1, wants it.
func unauthorized(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(w, "Unauthorized", http.StatusUnauthorized)
}

// bearerToken is the token of RFC 6750, section 2.1; empty if there is none.
func bearerToken(r *http.Request) string {
	scheme, token, ok := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func (g *guard) user(ctx context.Context, key tokenKey, token string) (user authenticationv1.UserInfo, known bool, err error) {
	if u, ok := g.users.Get(key); ok {
		return u.(authenticationv1.UserInfo), true, nil
	}
	review, err := g.tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return user, false, fmt.Errorf("token review: %w", err)
	}
	if !review.Status.Authenticated {
		return user, false, nil // an error in the status only says why
	}
	g.users.Add(key, review.Status.User, knownFor)
	return review.Status.User, true, nil
}

func (g *guard) allowed(ctx context.Context, right rightKey, user authenticationv1.UserInfo) (bool, error) {
	if a, ok := g.rights.Get(right); ok {
		return a.(bool), nil
	}
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for k, v := range user.Extra {
		extra[k] = authorizationv1.ExtraValue(v)
	}
	review, err := g.access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: right.path, Verb: right.verb},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("subject access review: %w", err)
	}
	if review.Status.Allowed {
		g.rights.Add(right, true, allowedFor)
	} else {
		g.rights.Add(right, false, deniedFor)
	}
	return review.Status.Allowed, nil
}
