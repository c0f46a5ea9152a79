import { failAt } from '../error.js'
import { qualifiedName } from '../schema/model.js'
import type { NativeFunction } from './native-function.js'
import { type Backend, BACKEND_OF_KEY } from './operator.js'

/**
 * Throws CodegenError for a dispatch key that PyTorch has and no backend here serves, and for two keys that mean the same backend:
 * the function that it names would never be called.
 */
export function checkDispatch(natives: readonly NativeFunction[]): void {
  for (const { source, schema, dispatch } of natives) {
    const keys = new Map<Backend, string>()
    for (const { key } of dispatch) {
      const backend = BACKEND_OF_KEY.get(key)
      const name = qualifiedName(schema)
      if (backend === undefined)
        failAt(source, name, `no backend serves the dispatch key '${key}', expected some of ${[...BACKEND_OF_KEY.keys()].join(', ')}`)
      const other = keys.get(backend)
      if (other !== undefined) failAt(source, name, `the dispatch keys '${other}' and '${key}' are both served by ${backend}`)
      keys.set(backend, key)
    }
    const device = ['CPU', 'QuantizedCPU'].find((key) => keys.has(key as Backend))
    if (keys.has('Builtin') && (device ?? keys.get('Composite')) !== undefined)
      failAt(source, qualifiedName(schema), `'Builtin' serves all calls: '${device ?? keys.get('Composite')!}' would never be called`)
  }
}
