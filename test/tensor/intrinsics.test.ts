import { types } from 'node:util'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { isArrayBuffer, isMap, isSharedArrayBuffer, isUint8Array } from '../../runtime/intrinsics.js'

t.test('classes of objects, of other realms, too', (t) => {
  const values: unknown[] = [
    ...[new ArrayBuffer(1), new SharedArrayBuffer(1), new Map(), new Uint8Array(1), new Int8Array(1), Buffer.alloc(1)],
    ...[{}, null, 1, 'text', undefined, { [Symbol.toStringTag]: 'Uint8Array' }, Object.setPrototypeOf({}, Map.prototype) as unknown],
    ...(runInNewContext('[new ArrayBuffer(1), new Map(), new Uint8Array(1), { byteLength: 1, size: 1 }]') as unknown[]),
  ]
  for (const value of values)
    for (const [name, test] of Object.entries({ isArrayBuffer, isSharedArrayBuffer, isMap, isUint8Array }))
      t.equal(test(value), types[name as 'isMap'](value), `${name} of ${Object.prototype.toString.call(value)}`)
  t.end()
})
