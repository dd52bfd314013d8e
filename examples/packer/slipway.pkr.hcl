# Puts Slipway and what needs no cluster into a node image. The source is the image to begin with: here a machine of QEMU, whose
# disk has Debian, containerd and a kubelet. For a cloud, take its builder (amazon-ebs, azure-arm), and leave the build block as it is.

variable "image" {
  type        = string
  description = "The disk image to begin with, and its checksum."
}

variable "checksum" {
  type = string
}

variable "architecture" {
  type    = string
  default = "amd64"
}

source "qemu" "node" {
  iso_url          = var.image
  iso_checksum     = var.checksum
  disk_image       = true
  format           = "qcow2"
  headless         = true
  ssh_username     = "root"
  shutdown_command = "systemctl poweroff"
  output_directory = "output/${var.architecture}"
}

build {
  sources = ["source.qemu.node"]

  # The agent: bin/slipway-node of make build, for the architecture of the image.
  provisioner "shell" {
    inline = ["install -d /opt/slipway/bin /etc/slipway"]
  }
  provisioner "file" {
    source      = "bin/slipway-node"
    destination = "/opt/slipway/bin/slipway-node"
  }
  provisioner "file" {
    sources = [
      "dist/systemd/slipway-provision.service",
      "dist/systemd/slipway-provision.path",
      "dist/systemd/slipway-watch.service",
    ]
    destination = "/etc/systemd/system/"
  }

  # What needs no cluster: containerd's configuration, kernel parameters, the kubelet's unit.
  provisioner "file" {
    source      = "examples/packer/base.yaml"
    destination = "/etc/slipway/base.yaml"
  }
  provisioner "shell" {
    inline = [
      "chmod 0755 /opt/slipway/bin/slipway-node",
      "/opt/slipway/bin/slipway-node provision --provision-config /etc/slipway/base.yaml",
      "systemctl enable slipway-provision.service slipway-provision.path slipway-watch.service",
    ]
  }

  # What is this machine's own, and must not be in an image. An empty machine-id, not a missing one: see docs/images.md.
  provisioner "shell" {
    inline = [
      "! command -v cloud-init || cloud-init clean --logs",
      "rm -f /etc/ssh/ssh_host_*_key* /var/lib/dbus/machine-id",
      "truncate -s 0 /etc/machine-id",
      "sync",
    ]
  }
}
