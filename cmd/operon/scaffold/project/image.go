package project

import (
	"encoding/json"
	"fmt"
	"slices"
)

// imagePlugin is under which name Kubebuilder keeps what a kind's controller runs.
const imagePlugin = "deploy-image.go.kubebuilder.io/v1-alpha"

// An Image is what the controller of a kind was made to run. Empty strings mean: not asked for.
type Image struct {
	ContainerCommand string `json:"containerCommand,omitempty"`
	ContainerPort    string `json:"containerPort,omitempty"`
	Image            string `json:"image,omitempty"`
	RunAsUser        string `json:"runAsUser,omitempty"`
}

type imageResource struct {
	Domain  string `json:"domain,omitempty"`
	Group   string `json:"group,omitempty"`
	Kind    string `json:"kind"`
	Options Image  `json:"options"`
	Version string `json:"version"`
}

func (i imageResource) is(r *Resource) bool {
	return i.Group == r.Group && i.Version == r.Version && i.Kind == r.Kind
}

// ImageOf returns what the controller of a kind was made to run, if it was made for an image.
func (p *Project) ImageOf(r *Resource) (Image, bool) {
	_, images, err := p.images()
	i := slices.IndexFunc(images, func(i imageResource) bool { return i.is(r) })
	if err != nil || i < 0 {
		return Image{}, false
	}
	return images[i].Options, true
}

// SetImage notes what the controller of a kind was made to run. Nil forgets it.
func (p *Project) SetImage(r *Resource, image *Image) error {
	plugins, images, err := p.images()
	if err != nil {
		return err
	}
	images = slices.DeleteFunc(images, func(i imageResource) bool { return i.is(r) })
	if image != nil {
		images = append(images, imageResource{Domain: r.Domain, Group: r.Group, Kind: r.Kind, Version: r.Version, Options: *image})
	}
	delete(plugins, imagePlugin)
	if len(images) > 0 {
		if plugins[imagePlugin], err = json.Marshal(map[string]any{"resources": images}); err != nil {
			return err
		}
	}
	delete(p.extra, "plugins")
	if len(plugins) > 0 {
		if p.extra == nil {
			p.extra = map[string]json.RawMessage{}
		}
		p.extra["plugins"], err = json.Marshal(plugins)
	}
	return err
}

func (p *Project) images() (plugins map[string]json.RawMessage, images []imageResource, err error) {
	plugins = map[string]json.RawMessage{}
	var kept struct {
		Resources []imageResource `json:"resources"`
	}
	if data := p.extra["plugins"]; data != nil {
		if err = json.Unmarshal(data, &plugins); err != nil {
			return nil, nil, fmt.Errorf("plugins: %w", err)
		}
	}
	if data := plugins[imagePlugin]; data != nil {
		if err = json.Unmarshal(data, &kept); err != nil {
			return nil, nil, fmt.Errorf("plugins: %s: %w", imagePlugin, err)
		}
	}
	return plugins, kept.Resources, nil
}
