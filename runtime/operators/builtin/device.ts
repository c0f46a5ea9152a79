import { PtliteError } from '../../error.js'
import type { Int } from '../../tensor/scalar.js'
import { Device } from '../../tensor/value.js'

const DEVICE_TYPES = new Set(
  'cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga ort xla lazy vulkan mps meta hpu privateuseone'.split(' '),
)

/** A device from its name, `cuda` or `cuda:1`. Throws MODEL_ERROR for other texts. */
export function device_of(a: string): Device {
  const match = /^([a-z_]+)(?::(0|[1-9]\d*))?$/.exec(a)
  if (match === null || !DEVICE_TYPES.has(match[1]!)) throw new PtliteError('MODEL_ERROR', `RuntimeError: invalid device string: '${a}'`)
  return new Device(match[1]!, match[2] === undefined ? null : Number(match[2]))
}

/** A device from its type and index. Throws MODEL_ERROR for other types. */
export function device_with_index(type: string, index: Int): Device {
  return device_of(`${type}:${index}`)
}

export function device_type(self: Device): string {
  return self.type
}

export function device_index(self: Device): Int | null {
  return self.index
}
