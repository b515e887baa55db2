package tile

// LaunchDependents lets the next kernel of the stream begin while this one runs: as soon as all blocks have come here or
// have ended. It says nothing about memory: the next kernel sees what this one writes, before or after, behind its
// WaitPrerequisites. It stands at the top level of the kernel, behind a WaitPrerequisites if there is one.
func (k *Builder) LaunchDependents() { k.kernel().LaunchDependents() }

// WaitPrerequisites waits until the kernels before this one on its stream are over and what they wrote is visible. A
// kernel that has it may begin earlier, where the launch before it on the stream was of a kernel with LaunchDependents:
// the runtime then allows it. What stands before (initialising mbarriers, loading what no kernel writes) overlaps with
// the end of the other; it must not write global memory, nor read what the kernel before wrote, which the simulator
// reports. It stands at the top level of the kernel. On targets without programmatic dependent launch both are nothing: a
// kernel then begins when those before it are over.
func (k *Builder) WaitPrerequisites() { k.kernel().WaitPrerequisites() }
