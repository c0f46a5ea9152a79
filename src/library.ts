/** What src/index.ts exports, of which each chunk is loaded by the first call of a function in it. */
import './names.js'
import './brands.js'
import './tensor-methods.js'
import './module-text.js'
import './disposable.js'
import '../chunks/all.js'
import type { Chunk } from '../runtime/chunk.js'
import type * as whole from './index.js'
import { eager, extension, generation, inspection, media, speech } from './lazy.js'

export { PtliteError } from '../runtime/error.js'
export { cpu } from './cpu.js'
export { memoryStats, trimMemory } from '../runtime/native/memory.js'
export { setNativeLibrary } from '../runtime/native/library.js'
export { getNumThreads, setNumThreads } from '../runtime/native/threads.js'
export { Complex, complex, Float, float, int } from '../runtime/tensor/scalar.js'
export { tuple } from './values/coerce.js'
export { loadModule } from './load-module.js'
export { Module } from './module.js'
export { Profiler } from '../interpreter/profile.js'
export { tensor } from './values/tensor.js'
export { Tensor } from './tensor-type.js'

type Callable = (...args: never[]) => unknown

/** Calls the function of this name. */
function later<Functions extends object, Name extends keyof Functions>(from: Chunk<Functions>, name: Name): Functions[Name] {
  return ((...args: never[]) => (from()[name] as Callable)(...args)) as Functions[Name]
}

export const callOperator: typeof whole.callOperator = later(eager, 'callOperator')
export const operators: typeof whole.operators = later(eager, 'operators')
export const registerOperator: typeof whole.registerOperator = later(extension, 'registerOperator')
export const arange: typeof whole.arange = later(eager, 'arange')
export const cat: typeof whole.cat = later(eager, 'cat')
export const eye: typeof whole.eye = later(eager, 'eye')
export const full: typeof whole.full = later(eager, 'full')
export const linspace: typeof whole.linspace = later(eager, 'linspace')
export const ones: typeof whole.ones = later(eager, 'ones')
export const rand: typeof whole.rand = later(eager, 'rand')
export const randn: typeof whole.randn = later(eager, 'randn')
export const stack: typeof whole.stack = later(eager, 'stack')
export const where: typeof whole.where = later(eager, 'where')
export const zeros: typeof whole.zeros = later(eager, 'zeros')

/** Its members are those of the module, which is there from the first look at one of them on. */
export const custom: typeof whole.custom = new Proxy({} as typeof whole.custom, {
  get: (_, name) => Reflect.get(extension().custom, name) as unknown,
  has: (_, name) => Reflect.has(extension().custom, name),
  ownKeys: () => Reflect.ownKeys(extension().custom),
  getOwnPropertyDescriptor: (_, name) => {
    const found = Reflect.getOwnPropertyDescriptor(extension().custom, name)
    return found && { ...found, configurable: true }
  },
})

export const imageToTensor: typeof whole.imageToTensor = later(media, 'imageToTensor')
export const tensorToImage: typeof whole.tensorToImage = later(media, 'tensorToImage')
export const melSpectrogram: typeof whole.melSpectrogram = later(media, 'melSpectrogram')
export const readWav: typeof whole.readWav = later(media, 'readWav')
export const writeWav: typeof whole.writeWav = later(media, 'writeWav')
export const resampleAudio: typeof whole.resampleAudio = later(media, 'resampleAudio')

export const generate: typeof whole.generate = later(generation, 'generate')
export const openSession: typeof whole.openSession = async (...args) => {
  const waiting = generation.ready()
  if (waiting !== undefined) await waiting
  return generation().openSession(...args)
}

export const loadTokenizer: typeof whole.loadTokenizer = async (...args) => {
  const waiting = generation.ready()
  if (waiting !== undefined) await waiting
  return generation().loadTokenizer(...args)
}

export const embed: typeof whole.embed = async (...args) => {
  const waiting = generation.ready()
  if (waiting !== undefined) await waiting
  return generation().embed(...args)
}
export const nearestVectors: typeof whole.nearestVectors = later(generation, 'nearestVectors')
export const roundVectors: typeof whole.roundVectors = later(generation, 'roundVectors')

export const transcribe: typeof whole.transcribe = async (...args) => {
  const waiting = speech.ready()
  if (waiting !== undefined) await waiting
  return speech().transcribe(...args)
}
export const ctcDecode: typeof whole.ctcDecode = later(speech, 'ctcDecode')
export const readArpa: typeof whole.readArpa = later(speech, 'readArpa')

export const inspectModel: typeof whole.inspectModel = async (...args) => {
  const waiting = inspection.ready()
  if (waiting !== undefined) await waiting
  return inspection().inspectModel(...args)
}
export const suggestInputs: typeof whole.suggestInputs = later(inspection, 'suggestInputs')
export const startTracing: typeof whole.startTracing = later(inspection, 'startTracing')
export const stopTracing: typeof whole.stopTracing = later(inspection, 'stopTracing')
