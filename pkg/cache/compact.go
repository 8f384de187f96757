package cache

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/klauspost/compress/s2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	cbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/operon-dev/operon/pkg/client"
)

// The compact form of an entry is its object, encoded and compressed. What compresses it is a dictionary of objects of the
// same resource: they repeat each other so much that little but names, addresses and times is left. The store keeps
// beside it what it finds objects by.

// packed is an object, or the views that a transform made of it, in the compact form.
type packed struct {
	words *s2.Dict // nil if data is not compressed
	data  []byte
	views *[numForms][]byte // forms that a transform made beside the entry's own
}

// unpack makes a view; have is the form of data.
func (p *packed) unpack(r *resource, have, want form) (client.Object, error) {
	data := p.data
	if p.views != nil && p.views[want] != nil {
		data, have = p.views[want], want
	}
	buffer := unpackBuffers.Get().(*[]byte)
	defer unpackBuffers.Put(buffer)
	if p.words != nil {
		n, err := s2.DecodedLen(data)
		if err != nil {
			return nil, err
		}
		if cap(*buffer) < n {
			*buffer = make([]byte, n)
		}
		if data, err = p.words.Decode((*buffer)[:n], data); err != nil {
			return nil, err
		}
	}
	return r.decode(data, have, want)
}

// Buffers are shared by all caches of the program; nothing of an object outlives its use of one.
var (
	unpackBuffers = sync.Pool{New: func() any { return new([]byte) }}
	packBuffers   = sync.Pool{New: func() any { return new([]byte) }}
)

// protobuf is what the generated types of Kubernetes can do.
type protobuf interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// encode writes an object in the encoding of its form: protobuf or, for Go types without it, JSON; CBOR for unstructured
// objects.
func (r *resource) encode(obj client.Object) ([]byte, error) {
	switch obj := obj.(type) {
	case *unstructured.Unstructured:
		return cbor.Marshal(obj.Object)
	case *metav1.PartialObjectMetadata:
		return obj.Marshal()
	case protobuf:
		if r.inProtobuf() {
			return obj.Marshal()
		}
	}
	return json.Marshal(obj)
}

// decode makes an object in one form of what encode wrote of it in another. It keeps nothing of data.
func (r *resource) decode(data []byte, have, want form) (client.Object, error) {
	obj, err := r.decodeAs(data, have, want)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.gvk.Kind, err)
	}
	if formOf(obj) != want {
		meta, err := metaOf(obj)
		if err != nil {
			return nil, err
		}
		return newEntry(obj, meta, have).view(r, want)
	}
	obj.GetObjectKind().SetGroupVersionKind(r.gvk)
	return obj, nil
}

// decodeAs reads as little as serves the wanted form.
func (r *resource) decodeAs(data []byte, have, want form) (client.Object, error) {
	if have == formFull {
		u := &unstructured.Unstructured{}
		return u, cbor.Unmarshal(data, &u.Object)
	}
	obj := newObjectIn(r, min(have, want))
	if have == formMetadata || r.inProtobuf() {
		// Metadata is the first field of all that Kubernetes encodes: the others are skipped.
		return obj, obj.(protobuf).Unmarshal(data)
	}
	return obj, json.Unmarshal(data, obj)
}

func newObjectIn(r *resource, f form) client.Object {
	if f == formMetadata {
		return &metav1.PartialObjectMetadata{}
	}
	return newObject(r)
}

// inProtobuf says whether the Go type has protobuf as Kubernetes generates it, and not by the accident of embedding a type
// that has.
func (r *resource) inProtobuf() bool {
	if !r.goType.Implements(reflect.TypeFor[protobuf]()) {
		return false
	}
	field, ok := r.goType.Elem().FieldByName("ObjectMeta")
	return ok && strings.HasPrefix(field.Tag.Get("protobuf"), "bytes,1,")
}

// packer makes entries of one store compact. It learns its dictionary from the objects that it meets: from the first one,
// and again when there is as much of others that had little in common with what it knew.
type packer struct {
	mu      sync.Mutex
	words   *s2.Dict
	learned []byte // what words was made of
	strange []byte // of objects that it did not help with
}

const (
	// maxLearned is the most that a dictionary is made of: about as far back as compression can look.
	maxLearned = 48 << 10
	// maxSample is the most that one object contributes.
	maxSample = 16 << 10
	// strangeAbove is by how much an object must shrink not to be taken for a sample.
	strangeAbove = 3
)

// pack makes e compact. Until it is settled it can be read through its object as well. An object that cannot be encoded
// stays as it is.
func (p *packer) pack(r *resource, e, known *entry) {
	data, err := r.encode(e.obj)
	if err != nil {
		return
	}
	to := &packed{words: p.vocabulary(data)}
	to.data = to.compress(data)
	if len(data) < strangeAbove*len(to.data) {
		p.learn(data)
	}
	if d := e.derived.Load(); d != nil {
		to.views = &[numForms][]byte{}
		for f, view := range d.views {
			if view == nil {
				continue
			}
			if data, err = r.encode(view); err != nil {
				return
			}
			to.views[f] = to.compress(data)
		}
	}
	m := e.meta
	e.meta = &metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion,
		Labels: m.Labels, OwnerReferences: m.OwnerReferences,
	}
	if known != nil {
		shareParts(&e.meta.Labels, &known.meta.Labels)
		shareParts(&e.meta.OwnerReferences, &known.meta.OwnerReferences)
		e.noteShared(known)
	}
	e.derived.Store(&derived{packed: to})
}

// vocabulary is the present dictionary, made of the first object if there is none.
func (p *packer) vocabulary(first []byte) *s2.Dict {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.words == nil {
		p.learned = append(p.learned, first[:min(len(first), maxSample)]...)
		p.words = s2.MakeDict(p.learned, nil) // nil if that is too little
	}
	return p.words
}

// learn takes a sample of an object. Entries that are packed already keep the dictionary they were packed with; each one
// is at least twice as large as the one before, so there are few.
func (p *packer) learn(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	room := maxLearned - len(p.learned) - len(p.strange)
	p.strange = append(p.strange, data[:min(len(data), maxSample, max(room, 0))]...)
	if len(p.strange) == 0 || len(p.strange) < len(p.learned) && room > 0 {
		return
	}
	p.learned = append(p.strange, p.learned...)
	p.strange = nil
	p.words = s2.MakeDict(p.learned, nil)
}

func (p *packed) compress(data []byte) []byte {
	if p.words == nil {
		return bytes.Clone(data)
	}
	buffer := packBuffers.Get().(*[]byte)
	defer packBuffers.Put(buffer)
	*buffer = p.words.Encode((*buffer)[:cap(*buffer)], data)
	return bytes.Clone(*buffer)
}

// settle ends the time in which a packed entry can be read through its object. It is called before others can see the
// entry.
func (e *entry) settle() {
	if d := e.derived.Load(); d != nil && d.packed != nil {
		e.obj, e.direct = nil, numForms
	}
}

// shown is an entry to tell handlers of: the object of a packed one is at hand now, and need not be unpacked for each
// of them.
func (e *entry) shown() *entry {
	d := e.derived.Load()
	if d == nil || d.packed == nil || d.packed.views != nil {
		return e
	}
	shown := newEntry(e.obj, e.meta, e.form)
	if meta, err := metaOf(e.obj); err == nil {
		shown.meta = meta
	}
	return shown
}
