// Asks every plugin of a network to collect garbage, through libcni as a runtime does, which cnitool
// does only without any attachment.
//
// Usage: libcni-gc NETWORK CONTAINER:INTERFACE..., with CNI_PATH and NETCONFPATH as for cnitool
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/types"
)

func main() {
	if err := collect(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func collect(name string, attachments []string) error {
	network, err := libcni.LoadConfList(os.Getenv("NETCONFPATH"), name)
	if err != nil {
		return err
	}
	args := &libcni.GCArgs{}
	for _, attachment := range attachments {
		container, ifname, _ := strings.Cut(attachment, ":")
		args.ValidAttachments = append(args.ValidAttachments,
			types.GCAttachment{ContainerID: container, IfName: ifname})
	}
	cni := libcni.NewCNIConfig(filepath.SplitList(os.Getenv("CNI_PATH")), nil)
	return cni.GCNetworkList(context.Background(), network, args)
}
