package zap

import (
	"reflect"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// KubeAwareEncoder is an encoder that logs Kubernetes objects, among the values
// of a message, as their kind, namespace and name.
type KubeAwareEncoder struct {
	// Encoder does the encoding.
	zapcore.Encoder

	// Verbose logs objects whole.
	Verbose bool
}

// Clone implements zapcore.Encoder.
func (k *KubeAwareEncoder) Clone() zapcore.Encoder {
	return &KubeAwareEncoder{Encoder: k.Encoder.Clone(), Verbose: k.Verbose}
}

// EncodeEntry implements zapcore.Encoder.
func (k *KubeAwareEncoder) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	if k.Verbose {
		return k.Encoder.EncodeEntry(entry, fields)
	}
	return k.Encoder.EncodeEntry(entry, named(fields))
}

// named returns the fields with the names of objects in place of the objects.
func named(fields []zapcore.Field) []zapcore.Field {
	short := fields
	for i, field := range fields {
		// Generated types have a String method, and so come as stringers; others come as they are.
		if field.Type != zapcore.StringerType && field.Type != zapcore.ReflectType {
			continue
		}
		var value zapcore.ObjectMarshaler
		switch v := field.Interface.(type) {
		case runtime.Object:
			value = objectName{v}
		case types.NamespacedName:
			value = namespacedName(v)
		default:
			continue
		}
		if &short[0] == &fields[0] {
			// The caller's slice may be shared with other encoders.
			short = append([]zapcore.Field(nil), fields...)
		}
		short[i] = zap.Object(field.Key, value)
	}
	return short
}

// namingCore does for the values of a logger what a KubeAwareEncoder does for those of a message, which it is not shown: they are
// encoded when they are added.
type namingCore struct {
	zapcore.Core
}

// With implements zapcore.Core.
func (c namingCore) With(fields []zapcore.Field) zapcore.Core {
	return namingCore{c.Core.With(named(fields))}
}

// objectName is logged as what identifies an object.
type objectName struct {
	runtime.Object
}

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (o objectName) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	if v := reflect.ValueOf(o.Object); v.Kind() == reflect.Pointer && v.IsNil() {
		enc.AddString("error", "got nil for runtime.Object of type "+v.Type().String())
		return nil
	}
	if gvk := o.GetObjectKind().GroupVersionKind(); gvk.Version != "" {
		enc.AddString("apiVersion", gvk.GroupVersion().String())
		enc.AddString("kind", gvk.Kind)
	}
	// A list, or a Status, has no name; its kind is all there is to say.
	if object, err := meta.Accessor(o.Object); err == nil {
		namespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}.addTo(enc)
	}
	return nil
}

type namespacedName types.NamespacedName

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (n namespacedName) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	n.addTo(enc)
	return nil
}

func (n namespacedName) addTo(enc zapcore.ObjectEncoder) {
	if n.Namespace != "" {
		enc.AddString("namespace", n.Namespace)
	}
	enc.AddString("name", n.Name)
}
