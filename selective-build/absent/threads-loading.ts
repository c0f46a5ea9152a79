import type * as whole from '../../runtime/native/wasm/threads/loading.js'
import { Kernels } from '../../runtime/native/wasm/kernels.js'
import { compileLater, compileNow } from '../../runtime/native/wasm/locate.js'
import { turnOfOthers } from '../../runtime/turn.js'

/** Selective builds have one thread. */

export const kernelsNow: typeof whole.kernelsNow = (file) => {
  const module = compileNow(file)
  return module && Kernels.of(module)
}

export const kernelsLater: typeof whole.kernelsLater = async (file) =>
  Kernels.whenMade(await compileLater(file), { memory: undefined, isShared: false })

export const threadsBegun: typeof whole.threadsBegun = () => Promise.resolve()

export const launchElsewhere: typeof whole.launchElsewhere = async (kernels, frame) => {
  await turnOfOthers()
  return kernels.launchFrame(frame)
}

export const writeElsewhere: typeof whole.writeElsewhere = () => undefined
