package cache

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What a watch brings in protobuf is in three envelopes: the event, the raw object in it, and a runtime.Unknown in that.
// The decoders of apimachinery copy the object out of one after the other. Here it is decoded where it is.
//
// managedFields are dropped from every object that enters the cache, and are a fifth of what it takes to decode one. They
// need not be decoded at all: a field that the decoder does not know is passed over, so their field number is turned into
// one that no object has.

// wireCodecs decodes objects of one resource in its Go type, with as few copies as possible, and lists of them. What it does
// not understand it leaves to the codecs that it wraps.
type wireCodecs struct {
	runtime.NegotiatedSerializer
	resource    *resource
	keepManaged bool
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (c wireCodecs) SupportedMediaTypes() []runtime.SerializerInfo {
	known := c.NegotiatedSerializer.SupportedMediaTypes()
	infos := make([]runtime.SerializerInfo, len(known))
	for i, info := range known {
		if info.MediaType == runtime.ContentTypeProtobuf {
			info.Serializer = objectSerializer{info.Serializer, c.resource, c.keepManaged}
			if info.StreamSerializer != nil {
				stream := *info.StreamSerializer
				stream.Serializer = eventSerializer{stream.Serializer}
				info.StreamSerializer = &stream
			}
		}
		infos[i] = info
	}
	return infos
}

// hasMetadataFirst says whether a Go type's metadata is where the objects of Kubernetes have it in protobuf.
func hasMetadataFirst(pointer reflect.Type) bool {
	f, ok := pointer.Elem().FieldByName("ObjectMeta")
	return ok && f.Type == reflect.TypeFor[metav1.ObjectMeta]() && strings.HasPrefix(f.Tag.Get("protobuf"), "bytes,1,")
}

// eventSerializer decodes the events of a watch. The object in one is a part of the data, which stays as it is until the
// next event is read.
type eventSerializer struct{ runtime.Serializer }

// Decode implements runtime.Decoder.
func (s eventSerializer) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, ok := into.(*metav1.WatchEvent); ok {
		kind, object, ok := fieldsOneAndTwo(data)
		raw, _, well := fieldsOneAndTwo(object)
		if ok && well && len(kind) > 0 && len(raw) > 0 {
			event.Type, event.Object.Raw = string(kind), raw
			return event, defaults, nil
		}
	}
	return s.Serializer.Decode(data, defaults, into)
}

type objectSerializer struct {
	runtime.Serializer
	resource    *resource
	keepManaged bool
}

// Decode implements runtime.Decoder. It changes data, which is the answer to a request of ours, and nobody else's.
func (s objectSerializer) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	unknown, ok := bytes.CutPrefix(data, protobufPrefix)
	if !ok {
		return s.Serializer.Decode(data, defaults, into)
	}
	is, raw, ok := fieldsOneAndTwo(unknown)
	version, kind, well := fieldsOneAndTwo(is)
	if !ok || !well || string(version) != s.resource.gvk.GroupVersion().String() {
		return s.Serializer.Decode(data, defaults, into)
	}
	switch string(kind) {
	case s.resource.gvk.Kind:
		if !s.keepManaged {
			hideManaged(raw)
		}
		if into == nil {
			return s.object(data, raw, defaults)
		}
	case s.resource.gvk.Kind + "List":
		if !s.keepManaged {
			eachField(raw, func(f wireField) {
				if f.number == listItems {
					hideManaged(f.value)
				}
			})
		}
	}
	return s.Serializer.Decode(data, defaults, into)
}

// object decodes an object out of data, of which raw is the part that matters.
func (s objectSerializer) object(data, raw []byte, defaults *schema.GroupVersionKind) (runtime.Object, *schema.GroupVersionKind, error) {
	obj := newObject(s.resource)
	message, ok := obj.(interface{ Unmarshal([]byte) error })
	if !ok || len(raw) == 0 {
		return s.Serializer.Decode(data, defaults, nil)
	}
	gvk := s.resource.gvk
	if err := message.Unmarshal(raw); err != nil {
		return nil, &gvk, err
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, &gvk, nil
}

// protobufPrefix is what a protobuf document of Kubernetes begins with. A message runtime.Unknown follows.
var protobufPrefix = []byte{'k', '8', 's', 0}

// Field numbers, from the generated.proto of meta/v1 and of every API.
const (
	objectMetadata = 1
	listItems      = 2
	metaManaged    = 17
	metaNothing    = 31 // its tag is as long as that of metaManaged
)

// fieldsOneAndTwo are the values of two fields of a message; ok says that there is nothing else in it but what is empty, and
// neither of them twice.
func fieldsOneAndTwo(message []byte) (one, two []byte, ok bool) {
	seen := [3]bool{}
	ok = eachField(message, func(f wireField) {
		switch {
		case f.value == nil, f.number == 0, f.number > 2 && len(f.value) > 0, f.number <= 2 && seen[f.number]:
			seen[0] = true
		case f.number == 1:
			one, seen[1] = f.value, true
		case f.number == 2:
			two, seen[2] = f.value, true
		}
	})
	return one, two, ok && !seen[0]
}

// hideManaged hides the managed fields of an object.
func hideManaged(object []byte) {
	eachField(object, func(f wireField) {
		if f.number != objectMetadata {
			return
		}
		eachField(f.value, func(m wireField) {
			if m.number == metaManaged && len(m.tag) == 2 {
				binary.PutUvarint(m.tag, metaNothing<<3|lengthDelimited)
			}
		})
	})
}

// wireField is a field of a protobuf message: the bytes of its tag and, if it has a length, of its value.
type wireField struct {
	number uint64
	tag    []byte
	value  []byte
}

// Wire types of protobuf.
const (
	varint          = 0
	fixed64         = 1
	lengthDelimited = 2
	fixed32         = 5
)

// eachField goes through the fields of a message. It stops at what it does not understand, and returns false: the decoder will
// say what is wrong with it.
func eachField(message []byte, do func(wireField)) bool {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			return false
		}
		f := wireField{number: tag >> 3, tag: message[:n:n]}
		message = message[n:]
		switch tag & 7 {
		case varint:
			if _, n = binary.Uvarint(message); n <= 0 {
				return false
			}
		case fixed64:
			n = 8
		case fixed32:
			n = 4
		case lengthDelimited:
			var length uint64
			length, n = binary.Uvarint(message)
			if n <= 0 || length > uint64(len(message)-n) {
				return false
			}
			f.value = message[n : n+int(length) : n+int(length)]
			n += int(length)
		default:
			return false
		}
		if n > len(message) {
			return false
		}
		message = message[n:]
		do(f)
	}
	return true
}
