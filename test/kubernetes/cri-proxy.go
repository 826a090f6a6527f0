// Stands between a kubelet that speaks version v1alpha2 of the CRI and a containerd that speaks only v1: the messages are
// the same, and so only the name of the service is changed. (Node.js refuses the requests of such a kubelet, whose
// authority is a path.)
//
// Usage: cri-proxy SOCKET CONTAINERD
package main

import (
	"context"
	"net"
	"os"
	"strings"

	"google.golang.org/grpc"
)

// In bytes, as kubelet has it.
const largestMessage = 16 << 20

// A message as it is on the wire.
type message []byte

type codec struct{}

func (codec) Marshal(from interface{}) ([]byte, error) {
	return *from.(*message), nil
}

func (codec) Unmarshal(data []byte, to interface{}) error {
	*to.(*message) = append(message(nil), data...)
	return nil
}

func (codec) Name() string   { return "proto" }
func (codec) String() string { return "proto" }

func main() {
	socket, containerd := os.Args[1], os.Args[2]
	connection, err := grpc.Dial("containerd",
		grpc.WithInsecure(),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", containerd)
		}),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{}), grpc.MaxCallRecvMsgSize(largestMessage)))
	if err != nil {
		panic(err)
	}
	pass := func(_ interface{}, stream grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(stream)
		var request, response message
		if err := stream.RecvMsg(&request); err != nil {
			return err
		}
		name := strings.Replace(method, "runtime.v1alpha2.", "runtime.v1.", 1)
		if err := connection.Invoke(stream.Context(), name, &request, &response); err != nil {
			return err
		}
		return stream.SendMsg(&response)
	}
	// That of a killed proxy may be left.
	os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	panic(grpc.NewServer(grpc.CustomCodec(codec{}), grpc.UnknownServiceHandler(pass)).Serve(listener))
}
