// Code generated from aksnodeconfig/v1/runtime.proto. DO NOT EDIT.

package aksnodeconfig

// KubeBinaryConfig says where the Kubernetes binaries come from when the image has not got them.
type KubeBinaryConfig struct {
	// Archive or OCI reference with kubelet and kubectl, for versions before 1.34.
	KubeBinaryUrl string `aks:"1,kube_binary_url,kubeBinaryUrl"`
	// Archive that takes precedence over kube_binary_url.
	CustomKubeBinaryUrl string `aks:"2,custom_kube_binary_url,customKubeBinaryUrl"`
	// Archive of a private build; its cached copy on the image is preferred.
	PrivateKubeBinaryUrl string `aks:"3,private_kube_binary_url,privateKubeBinaryUrl"`
	// Pause image of every pod sandbox.
	PodInfraContainerImageUrl string `aks:"4,pod_infra_container_image_url,podInfraContainerImageUrl"`
	// Archive with the image credential provider, where it is not a package.
	LinuxCredentialProviderUrl string `aks:"5,linux_credential_provider_url,linuxCredentialProviderUrl"`
}

// RuncConfig picks the runc package.
type RuncConfig struct {
	// Version to install.
	RuncVersion string `aks:"1,runc_version,runcVersion"`
	// Package to install instead.
	RuncPackageUrl string `aks:"2,runc_package_url,runcPackageUrl"`
}

// ContainerdConfig picks the containerd package.
type ContainerdConfig struct {
	// Folder that packages are downloaded from.
	ContainerdDownloadUrlBase string `aks:"1,containerd_download_url_base,containerdDownloadUrlBase"`
	// Version to install. The config's format follows what is installed, not this.
	ContainerdVersion string `aks:"2,containerd_version,containerdVersion"`
	// Package to install instead, even if the image brings containerd.
	ContainerdPackageUrl string `aks:"3,containerd_package_url,containerdPackageUrl"`
}

// GpuConfig configures the GPUs of a node.
type GpuConfig struct {
	// The node has NVIDIA GPUs to use: their container runtime becomes the default. Unset means false.
	EnableNvidia *bool `aks:"1,enable_nvidia,enableNvidia"`
	// Install the driver. If false, an installed one is only checked.
	ConfigGpuDriver bool `aks:"2,config_gpu_driver,configGpuDriver"`
	// Run the NVIDIA device plugin.
	GpuDevicePlugin bool `aks:"3,gpu_device_plugin,gpuDevicePlugin"`
	// MIG instance profile, such as "MIG1g". Non-empty partitions the GPUs and takes a reboot.
	GpuInstanceProfile string `aks:"4,gpu_instance_profile,gpuInstanceProfile"`
	// The node has AMD GPUs. Part of the contract, without effect: they are found by VM size.
	EnableAmdGpu *bool `aks:"5,enable_amd_gpu,enableAmdGpu"`
	// The subscription is registered for the managed GPU preview.
	ManagedGpuExperienceAfecEnabled bool `aks:"6,managed_gpu_experience_afec_enabled,managedGpuExperienceAfecEnabled"`
	// Run device plugin, DCGM and its exporter as services of the node.
	EnableManagedGpu bool `aks:"7,enable_managed_gpu,enableManagedGpu"`
	// How MIG slices are advertised: "None", "Single" or "Mixed".
	MigStrategy string `aks:"8,mig_strategy,migStrategy"`
	// MIG profiles to create on each GPU, in order.
	MigProfileLayout []string `aks:"9,mig_profile_layout,migProfileLayout"`
	// Run the driver for dynamic resource allocation, after kubelet.
	EnableManagedGpuDra bool `aks:"10,enable_managed_gpu_dra,enableManagedGpuDra"`
}
