// Package payload reads what API servers send to webhooks.
//
// It guarantees that no more than the limit is held in memory, and tells apart
// why a body was refused, so that each kind of webhook can answer in its own format.
package payload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/json"
)

// ErrEmpty says that there was no body.
var ErrEmpty = errors.New("the request has no body")

// TooLargeError says that the body was larger than the limit.
type TooLargeError struct {
	Limit int64
}

// Error implements error.
func (e TooLargeError) Error() string {
	return fmt.Sprintf("the request is too large: its body must be shorter than %d bytes", e.Limit)
}

// ContentTypeError says that the body was something else than JSON.
type ContentTypeError struct {
	ContentType string
}

// Error implements error.
func (e ContentTypeError) Error() string {
	return fmt.Sprintf("the content type is %q, must be application/json", e.ContentType)
}

// UndecodableError says that the body was JSON, perhaps, but no review as it was expected.
type UndecodableError struct {
	Err error
}

// Error implements error.
func (e UndecodableError) Error() string { return e.Err.Error() }

// Unwrap makes the reason known to errors.Is.
func (e UndecodableError) Unwrap() error { return e.Err }

// Complaint is what a log says of an error that ReadReview returned.
func Complaint(err error) string {
	var (
		tooLarge    TooLargeError
		contentType ContentTypeError
		undecodable UndecodableError
	)
	switch {
	case errors.As(err, &tooLarge):
		return "Request is too large"
	case errors.As(err, &contentType):
		return "Request does not say that it is JSON"
	case errors.Is(err, ErrEmpty):
		return "Request has no body"
	case errors.As(err, &undecodable):
		return "Request cannot be decoded"
	}
	return "Request cannot be read"
}

// ReadReview reads the review that is a request's body, as Read, CheckContentType and Decode do one after the other. Its errors are of the types above,
// but for those of the connection.
func ReadReview(r *http.Request, limit int64, into runtime.Object, preferred schema.GroupVersionKind, versions ...string) (schema.GroupVersionKind, error) {
	body, err := Read(r, limit)
	if err == nil {
		err = CheckContentType(r)
	}
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	kind, err := Decode(body, into, preferred, versions...)
	if err != nil {
		return schema.GroupVersionKind{}, UndecodableError{Err: err}
	}
	return kind, nil
}

// Read returns the body of a request, which must be shorter than limit.
func Read(r *http.Request, limit int64) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, ErrEmpty
	}
	var body bytes.Buffer
	// What the header says is believed only as far as it is what a request usually takes.
	body.Grow(int(min(max(r.ContentLength, 0), maxExpected)) + bytes.MinRead)
	_, err := body.ReadFrom(&io.LimitedReader{R: r.Body, N: limit})
	switch {
	case err != nil:
		return nil, err
	case int64(body.Len()) >= limit:
		return nil, TooLargeError{Limit: limit}
	}
	return body.Bytes(), nil
}

// maxExpected bounds the memory that is taken before anything has been read.
const maxExpected = 256 << 10

// CheckContentType returns an error unless a request's header says that its body is JSON.
func CheckContentType(r *http.Request) error {
	contentType := r.Header.Get("Content-Type")
	if mediaType, _, err := mime.ParseMediaType(contentType); err != nil || mediaType != "application/json" {
		return ContentTypeError{ContentType: contentType}
	}
	return nil
}

// Decode decodes a review into an object, and returns the kind and version it
// was sent as. What it leaves unsaid, kind or version or both, is as preferred: that is how the codecs of Kubernetes complete what they decode.
// Of all others only those are accepted that group and kind, and one of the versions, describe.
func Decode(body []byte, into runtime.Object, preferred schema.GroupVersionKind, versions ...string) (schema.GroupVersionKind, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return schema.GroupVersionKind{}, ErrEmpty
	}
	// The kind is a field like others: looking for it beforehand would be one more pass over the body. Where something is
	// wrong, what is wrong with the kind is said first.
	if err := json.Unmarshal(body, into); err != nil {
		if _, kindErr := serializer.DefaultMetaFactory.Interpret(body); kindErr != nil {
			err = kindErr
		}
		return schema.GroupVersionKind{}, err
	}
	gvk := into.GetObjectKind().GroupVersionKind()
	if gvk.Kind == "" {
		gvk.Kind = preferred.Kind
	}
	if gvk.GroupVersion().Empty() {
		gvk.Group, gvk.Version = preferred.Group, preferred.Version
	}
	for _, version := range append(versions, preferred.Version) {
		if gvk == preferred.GroupKind().WithVersion(version) {
			return gvk, nil
		}
	}
	if _, err := serializer.DefaultMetaFactory.Interpret(body); err != nil {
		return schema.GroupVersionKind{}, err
	}
	return schema.GroupVersionKind{}, fmt.Errorf("expected kind %s in group %s, got kind %q in version %q",
		preferred.Kind, preferred.Group, gvk.Kind, gvk.GroupVersion())
}

// maxMargin is the most that a handler's deadline comes before the API server's.
const maxMargin = 500 * time.Millisecond

// WithDeadline bounds ctx by the time that the API server waits for the
// answer, which it tells in the query parameter timeout. The bound is a little
// shorter, by a tenth, so that the reason for giving up arrives in time. A request without a valid parameter has no bound.
func WithDeadline(ctx context.Context, r *http.Request) (context.Context, context.CancelFunc) {
	if r.URL == nil {
		return ctx, func() {}
	}
	timeout, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout-min(timeout/10, maxMargin))
}
