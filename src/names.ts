import { PtliteError } from '../runtime/error.js'
import { Profiler } from '../interpreter/profile.js'
import { Complex, Float } from '../runtime/tensor/scalar.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { CustomObject, Device, ScriptObject, Tuple } from '../runtime/tensor/value.js'
import { Module } from './module.js'

// minified code has other names; console.log and uncaught errors show these
for (const [name, type] of Object.entries({
  Complex,
  CustomObject,
  Device,
  Float,
  Module,
  Profiler,
  PtliteError,
  ScriptObject,
  Tensor,
  Tuple,
})) {
  Object.defineProperty(type, 'name', { value: name })
}
