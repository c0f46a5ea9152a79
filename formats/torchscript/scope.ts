import type { Value } from './graph.js'
import type { ClassUnit, FunctionUnit } from './library.js'
import type { Stmt } from './syntax.js'
import type { Type } from './types.js'

/** What a name or an expression stands for. */
export type Binding =
  | { readonly kind: 'value'; readonly value: Value; readonly declared?: Type | undefined } // `declared`: what the variable may hold
  | { readonly kind: 'namespace'; readonly name: string } // `torch`, `ops.quantized`, `__torch__.torch.nn`
  | { readonly kind: 'operator'; readonly name: string; readonly self: Value | null }
  | { readonly kind: 'function'; readonly unit: FunctionUnit; readonly self: Value | null }
  | { readonly kind: 'class'; readonly unit: ClassUnit }
  | { readonly kind: 'interface method'; readonly unit: FunctionUnit; readonly self: Value }
  | { readonly kind: 'new'; readonly unit: ClassUnit } // `Class.__new__`
  | { readonly kind: 'tolist'; readonly self: Value }
  | { readonly kind: 'special'; readonly name: string } // `annotate`, `isinstance` and so on
  | { readonly kind: 'closure'; readonly body: readonly Stmt[] } // what `fork` runs
  | { readonly kind: 'lost'; readonly why: string } // of other types on two ways

/** Names in a block; those of blocks around it are seen, and hidden by its own. */
export class Scope {
  readonly own = new Map<string, Binding>()

  constructor(private readonly outer: Scope | null = null) {}

  find(name: string): Binding | undefined {
    let found = this.own.get(name)
    for (let scope = this.outer; found === undefined && scope !== null; scope = scope.outer) found = scope.own.get(name)
    return found
  }
}
