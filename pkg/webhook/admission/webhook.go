package admission

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/webhook/admission/metrics"
	"github.com/operon-dev/operon/pkg/webhook/internal/meter"
)

// Webhook serves a Handler over HTTP. It is registered with a
// webhook.Server, or goes through StandaloneWebhook. Its fields are not to be changed once requests arrive.
type Webhook struct {
	// Handler makes the decision. It is required.
	Handler Handler

	// RecoverPanic answers a request whose handler panics with an internal
	// error. False lets the panic through to the HTTP server. Nil means true.
	RecoverPanic *bool

	// WithContextFunc returns the context to call the handler with, made from
	// the request's own, for example with a header of the HTTP request. Nil means the request's own.
	WithContextFunc func(context.Context, *http.Request) context.Context

	// LogConstructor makes the logger for a request, or for what is logged
	// outside any, when the request is nil. Nil means DefaultLogConstructor.
	LogConstructor func(base logr.Logger, req *Request) logr.Logger

	base logr.Logger // unset means log.Log
}

// WithRecoverPanic sets RecoverPanic and returns wh.
func (wh *Webhook) WithRecoverPanic(recoverPanic bool) *Webhook {
	wh.RecoverPanic = &recoverPanic
	return wh
}

// Handle has the handler answer one request, and completes the answer so that
// it can be sent. A panic of the handler becomes an answer as well, if RecoverPanic says so.
func (wh *Webhook) Handle(ctx context.Context, req Request) Response {
	return wh.handle(ctx, wh.logger(&req), req)
}

func (wh *Webhook) handle(ctx context.Context, logger logr.Logger, req Request) (response Response) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		metrics.WebhookPanics.WithLabelValues().Inc()
		if wh.RecoverPanic != nil && !*wh.RecoverPanic {
			logger.Info(fmt.Sprintf("Panic is left to the HTTP server: %v", p))
			panic(p)
		}
		logger.Error(nil, "Observed a panic", "panic", fmt.Sprint(p), "stacktrace", string(debug.Stack()))
		response = Errored(http.StatusInternalServerError, fmt.Errorf("panic: %v [recovered]", p))
		response.UID = req.UID
	}()
	response = wh.Handler.Handle(log.IntoContext(ctx, logger), req)
	if err := response.Complete(req); err != nil {
		logger.Error(err, "Response cannot be encoded")
		response = Errored(http.StatusInternalServerError, errUnencodable)
		response.UID = req.UID
	}
	return response
}

func (wh *Webhook) logger(req *Request) logr.Logger {
	base := wh.base
	if base.GetSink() == nil {
		base = log.Log.WithName("admission")
	}
	if wh.LogConstructor != nil {
		return wh.LogConstructor(base, req)
	}
	return DefaultLogConstructor(base, req)
}

// DefaultLogConstructor returns base with the object, the resource, the user and the ID of
// the request. Nothing is added for a nil request.
func DefaultLogConstructor(base logr.Logger, req *Request) logr.Logger {
	if req == nil {
		return base
	}
	return base.WithValues(
		"object", klog.KRef(req.Namespace, req.Name),
		"namespace", req.Namespace, "name", req.Name,
		"resource", req.Resource, "user", req.UserInfo.Username,
		"requestID", req.UID,
	)
}

// StandaloneOptions set up a webhook on a server of one's own.
type StandaloneOptions struct {
	// Logger is what the webhook logs to. Unset means log.Log.
	Logger logr.Logger

	// MetricsPath is the path in the labels of the webhook's metrics. Empty means no metrics.
	MetricsPath string
}

// StandaloneWebhook prepares a webhook for any HTTP server. API servers talk to
// webhooks over TLS alone, and that server has to see to it.
func StandaloneWebhook(hook *Webhook, opts StandaloneOptions) (http.Handler, error) {
	if opts.Logger.GetSink() != nil {
		hook.base = opts.Logger
	}
	if opts.MetricsPath == "" {
		return hook, nil
	}
	return meter.Handler(opts.MetricsPath, hook), nil
}
