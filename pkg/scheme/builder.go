package scheme

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Builder gathers the Go types of one group version.
//
// Deprecated: a package of API types is imported by many, and should not need more than k8s.io/apimachinery for it.
// runtime.NewSchemeBuilder does the same with a function that calls AddKnownTypes and metav1.AddToGroupVersion.
type Builder struct {
	// GroupVersion is that of the types.
	GroupVersion schema.GroupVersion
	// SchemeBuilder holds what adds them to a scheme. Functions of one's own may be added to it.
	runtime.SchemeBuilder
}

// Register adds types, and the options that requests about them take, to what AddToScheme adds. It returns bld.
func (bld *Builder) Register(object ...runtime.Object) *Builder {
	bld.SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(bld.GroupVersion, object...)
		metav1.AddToGroupVersion(s, bld.GroupVersion)
		return nil
	})
	return bld
}

// RegisterAll adds all that b has registered so far, under b's group version. It returns bld.
func (bld *Builder) RegisterAll(b *Builder) *Builder {
	bld.SchemeBuilder = append(bld.SchemeBuilder, b.SchemeBuilder...)
	return bld
}

// AddToScheme adds the registered types to s.
func (bld *Builder) AddToScheme(s *runtime.Scheme) error {
	return bld.SchemeBuilder.AddToScheme(s)
}

// Build returns a new scheme with the registered types.
func (bld *Builder) Build() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	return s, bld.AddToScheme(s)
}
