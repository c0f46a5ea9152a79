import { Tensor } from '../runtime/tensor/tensor.js'
import { Module } from './module.js'

declare global {
  // of programs whose TypeScript does not know it yet
  interface SymbolConstructor {
    readonly dispose: unique symbol
  }
}

// `using model = await loadModule(path)` disposes of it at the end of the block
for (const { prototype } of [Tensor, Module] as readonly { readonly prototype: { dispose(): void } }[]) {
  // Node has it from 20.4 on
  if ((Symbol.dispose as symbol | undefined) === undefined) continue
  Object.defineProperty(prototype, Symbol.dispose, {
    value(this: { dispose(): void }) {
      this.dispose()
    },
  })
}
