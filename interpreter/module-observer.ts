import type { LinkedFunction } from '../program/linked.js'
import type { ScriptModule } from './script-module.js'
import * as features from '../runtime/features.js'

/** Is told of every module that is loaded or called. */
export interface ModuleObserver {
  /** Functions that are about to run: at load, before any `__setstate__`, and at calls. */
  functions(functions: readonly LinkedFunction[]): void
  /** A module that is whole, at the end of loading and at calls. */
  module(module: ScriptModule): void
}

export let moduleObserver: ModuleObserver | null = null

/** While it is so, calls must be interpreted: a replayed plan does not say what it does. */
export function modulesObserved(): boolean {
  return features.compiler && moduleObserver !== null
}

export function observeModules(other: ModuleObserver | null): void {
  moduleObserver = other
}
