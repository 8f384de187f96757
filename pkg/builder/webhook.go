package builder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/pkg/client/apiutil"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/manager"
	"github.com/operon-dev/operon/pkg/webhook/admission"
	"github.com/operon-dev/operon/pkg/webhook/conversion"
)

// convertPath is where all kinds are converted.
const convertPath = "/convert"

// customPaths is what paths of one's own look like.
var customPaths = regexp.MustCompile(`^((/[a-zA-Z0-9-_]+)+|/)$`)

// WebhookBuilder puts the webhooks of one type on a manager's server. Its methods, Complete apart, return the
// builder itself. It is not safe for concurrent use.
type WebhookBuilder[T runtime.Object] struct {
	mgr    manager.Manager
	object T

	defaulter        admission.Defaulter[T]
	customDefaulter  admission.Defaulter[runtime.Object]
	defaulterPath    string
	defaulterOptions []admission.DefaulterOption

	validator       admission.Validator[T]
	customValidator admission.Validator[runtime.Object]
	validatorPath   string

	newConverter func(*runtime.Scheme) (conversion.Converter, error)

	recoverPanic   *bool
	contextFunc    func(context.Context, *http.Request) context.Context
	logConstructor func(base logr.Logger, req *admission.Request) logr.Logger
}

// WebhookManagedBy begins the webhooks for objects of the type of object, which m's server is to serve.
func WebhookManagedBy[T runtime.Object](m manager.Manager, object T) *WebhookBuilder[T] {
	return &WebhookBuilder[T]{mgr: m, object: object}
}

// WithDefaulter serves a mutating webhook that has the objects changed by a Defaulter. Its path is
// /mutate-group-version-kind, in lower case and with dashes for the dots of the group.
func (blder *WebhookBuilder[T]) WithDefaulter(defaulter admission.Defaulter[T], opts ...admission.DefaulterOption) *WebhookBuilder[T] {
	blder.defaulter, blder.defaulterOptions = defaulter, opts
	return blder
}

// WithCustomDefaulter is WithDefaulter for a Defaulter that takes objects of any type.
//
// Deprecated: use WithDefaulter.
func (blder *WebhookBuilder[T]) WithCustomDefaulter(defaulter admission.CustomDefaulter, opts ...admission.DefaulterOption) *WebhookBuilder[T] {
	blder.customDefaulter, blder.defaulterOptions = defaulter, opts
	return blder
}

// WithDefaulterCustomPath serves the mutating webhook on another path.
func (blder *WebhookBuilder[T]) WithDefaulterCustomPath(customPath string) *WebhookBuilder[T] {
	blder.defaulterPath = customPath
	return blder
}

// WithValidator serves a validating webhook that has the objects judged by a Validator. Its path is
// /validate-group-version-kind, in lower case and with dashes for the dots of the group.
func (blder *WebhookBuilder[T]) WithValidator(validator admission.Validator[T]) *WebhookBuilder[T] {
	blder.validator = validator
	return blder
}

// WithCustomValidator is WithValidator for a Validator that takes objects of any type.
//
// Deprecated: use WithValidator.
func (blder *WebhookBuilder[T]) WithCustomValidator(validator admission.CustomValidator) *WebhookBuilder[T] {
	blder.customValidator = validator
	return blder
}

// WithValidatorCustomPath serves the validating webhook on another path.
func (blder *WebhookBuilder[T]) WithValidatorCustomPath(customPath string) *WebhookBuilder[T] {
	blder.validatorPath = customPath
	return blder
}

// WithConverter has objects of the kind converted, on the path /convert, by what the constructor makes for the
// manager's scheme: see conversion.NewHubSpokeConverter. Without it a kind is converted if its Go types
// implement conversion.Hub and conversion.Convertible.
func (blder *WebhookBuilder[T]) WithConverter(converterConstructor func(*runtime.Scheme) (conversion.Converter, error)) *WebhookBuilder[T] {
	blder.newConverter = converterConstructor
	return blder
}

// WithLogConstructor sets the LogConstructor of the admission webhooks. The default names the kind, the object, the
// user and the request.
func (blder *WebhookBuilder[T]) WithLogConstructor(logConstructor func(base logr.Logger, req *admission.Request) logr.Logger) *WebhookBuilder[T] {
	blder.logConstructor = logConstructor
	return blder
}

// WithContextFunc sets the WithContextFunc of the admission webhooks.
func (blder *WebhookBuilder[T]) WithContextFunc(contextFunc func(context.Context, *http.Request) context.Context) *WebhookBuilder[T] {
	blder.contextFunc = contextFunc
	return blder
}

// RecoverPanic sets the RecoverPanic of the admission webhooks. The default is true.
func (blder *WebhookBuilder[T]) RecoverPanic(recoverPanic bool) *WebhookBuilder[T] {
	blder.recoverPanic = &recoverPanic
	return blder
}

// Complete registers the webhooks with the manager's server. A path that has a handler already is left to it, so
// that a kind may be completed twice.
func (blder *WebhookBuilder[T]) Complete() error {
	if any(blder.object) == nil {
		return errors.New("webhook without an object: give NewWebhookManagedBy() one of its kind")
	}
	if v := reflect.ValueOf(blder.object); v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Errorf("webhook with a nil %T: give NewWebhookManagedBy() an object", blder.object)
	}
	gvk, err := apiutil.GVKForObject(blder.object, blder.mgr.GetScheme())
	if err != nil {
		return err
	}
	hooks, err := blder.admissionHooks(gvk)
	if err != nil {
		return err
	}
	converting, err := blder.registerConverter(gvk)
	if err != nil {
		return err
	}
	logger := log.Log.WithName("builder").WithValues("GVK", gvk)
	for _, hook := range hooks {
		if blder.served(hook.path) {
			logger.Info("Skipping a "+hook.what+" webhook, the path has a handler already", "path", hook.path)
			continue
		}
		logger.Info("Registering a "+hook.what+" webhook", "path", hook.path)
		blder.mgr.GetWebhookServer().Register(hook.path, hook.webhook)
	}
	if converting {
		if !blder.served(convertPath) {
			blder.mgr.GetWebhookServer().Register(convertPath, conversion.NewWebhookHandler(blder.mgr.GetScheme(), blder.mgr.GetConverterRegistry()))
		}
		logger.Info("The conversion webhook serves the kind")
	}
	return nil
}

// served reports whether the path has a handler.
func (blder *WebhookBuilder[T]) served(path string) bool {
	_, pattern := blder.mgr.GetWebhookServer().WebhookMux().Handler(&http.Request{URL: &url.URL{Path: path}})
	return pattern == path
}

// admissionHook is an admission webhook and where it is served.
type admissionHook struct {
	what    string
	path    string
	webhook *admission.Webhook
}

func (blder *WebhookBuilder[T]) admissionHooks(gvk schema.GroupVersionKind) ([]admissionHook, error) {
	defaulter, err := blder.defaulterWebhook()
	if err != nil {
		return nil, err
	}
	validator, err := blder.validatorWebhook()
	if err != nil {
		return nil, err
	}
	var hooks []admissionHook
	for _, hook := range []struct {
		admissionHook
		customPath string
	}{
		{admissionHook{"mutating", "/mutate", defaulter}, blder.defaulterPath},
		{admissionHook{"validating", "/validate", validator}, blder.validatorPath},
	} {
		if hook.webhook == nil {
			continue
		}
		hook.path += pathOf(gvk)
		if hook.customPath != "" {
			if !customPaths.MatchString(hook.customPath) {
				return nil, fmt.Errorf("customPath %q does not match this regex: %s", hook.customPath, customPaths)
			}
			hook.path = hook.customPath
		}
		hook.webhook.RecoverPanic = blder.recoverPanic
		hook.webhook.WithContextFunc = blder.contextFunc
		hook.webhook.LogConstructor = blder.logConstructor
		if hook.webhook.LogConstructor == nil {
			hook.webhook.LogConstructor = logConstructorFor(gvk)
		}
		hooks = append(hooks, hook.admissionHook)
	}
	if len(hooks) == 2 && hooks[0].path == hooks[1].path {
		return nil, fmt.Errorf("the defaulter and the validator of %s have the same path, %s", gvk, hooks[0].path)
	}
	return hooks, nil
}

// defaulterWebhook is nil when there is no defaulter.
func (blder *WebhookBuilder[T]) defaulterWebhook() (*admission.Webhook, error) {
	scheme := blder.mgr.GetScheme()
	switch {
	case blder.defaulter != nil && blder.customDefaulter != nil:
		return nil, errors.New("webhook with both a Defaulter and a CustomDefaulter: leave one of them out")
	case blder.defaulter != nil:
		return admission.WithDefaulter(scheme, blder.defaulter, blder.defaulterOptions...), nil
	case blder.customDefaulter != nil:
		return admission.WithCustomDefaulter(scheme, blder.object, blder.customDefaulter, blder.defaulterOptions...), nil
	}
	return nil, nil
}

// validatorWebhook is nil when there is no validator.
func (blder *WebhookBuilder[T]) validatorWebhook() (*admission.Webhook, error) {
	scheme := blder.mgr.GetScheme()
	switch {
	case blder.validator != nil && blder.customValidator != nil:
		return nil, errors.New("webhook with both a Validator and a CustomValidator: leave one of them out")
	case blder.validator != nil:
		return admission.WithValidator(scheme, blder.validator), nil
	case blder.customValidator != nil:
		//lint:ignore SA1019 it is what WithCustomValidator asks for
		return admission.WithCustomValidator(scheme, blder.object, blder.customValidator), nil
	}
	return nil, nil
}

// registerConverter makes the kind known to the conversion webhook, and reports whether it can be converted.
func (blder *WebhookBuilder[T]) registerConverter(gvk schema.GroupVersionKind) (bool, error) {
	if blder.newConverter != nil {
		converter, err := blder.newConverter(blder.mgr.GetScheme())
		if err != nil {
			return false, err
		}
		return true, blder.mgr.GetConverterRegistry().RegisterConverter(gvk.GroupKind(), converter)
	}
	if _, ok := any(blder.object).(runtime.Unstructured); ok {
		// No Go type, no methods that could convert it.
		return false, nil
	}
	convertible, err := conversion.IsConvertible(blder.mgr.GetScheme(), blder.object)
	if err != nil {
		return false, fmt.Errorf("conversion of %s: %w", gvk.GroupKind(), err)
	}
	return convertible, nil
}

// pathOf is what the paths of a kind end with.
func pathOf(gvk schema.GroupVersionKind) string {
	return "-" + strings.ReplaceAll(gvk.Group, ".", "-") + "-" + gvk.Version + "-" + strings.ToLower(gvk.Kind)
}

// logConstructorFor returns what names the kind and, in a request, the object, its resource, the user and the request.
func logConstructorFor(gvk schema.GroupVersionKind) func(logr.Logger, *admission.Request) logr.Logger {
	return func(base logr.Logger, req *admission.Request) logr.Logger {
		logger := base.WithValues("webhookGroup", gvk.Group, "webhookKind", gvk.Kind)
		if req == nil {
			return logger
		}
		return logger.WithValues(
			gvk.Kind, klog.KRef(req.Namespace, req.Name),
			"namespace", req.Namespace, "name", req.Name,
			"resource", req.Resource, "user", req.UserInfo.Username,
			"requestID", req.UID,
		)
	}
}
