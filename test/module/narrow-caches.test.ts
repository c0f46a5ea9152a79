import { gunzipSync } from 'node:zlib'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { type LoadOptions, loadModule, type Module, type Tensor, tensor } from '../../src/index.js'
import { writeProgram } from '../differential/archive.js'
import type { Statement } from '../differential/program.js'

/** Caches of keys and values in fewer bits. */

const FORMATS = ['int8', 'bfloat16', 'float16'] as const
/** How far results may be from those of float32, as a part of the largest. */
const BOUNDS = { int8: 0.02, bfloat16: 0.01, float16: 0.002 }
const [HEADS, ROOM, WIDTH] = [2, 12, 8]
const folder = mkdtempSync(join(tmpdir(), 'ptlite-caches-'))
t.teardown(() => rmSync(folder, { recursive: true }))

const size = HEADS * ROOM * WIDTH
const cacheOf = (storage: number) => ({ storage, shape: [1, HEADS, ROOM, WIDTH], strides: [size, ROOM * WIDTH, WIDTH, 1], offset: 0 })

/** A module with `keys` and `values`, of which `filled` rows are there, that goes on by these lines; `x` [1, 2, n, 8] are queries, keys and values, `at` [n] their places. */
function network(lines: readonly string[], { filled = 0, result = 'y', shared = false } = {}): Uint8Array {
  const data = Array.from({ length: size }, (_, i) => (Math.floor(i / WIDTH) % ROOM < filled ? Math.sin(i) : 0))
  const tensorType = { kind: 'Tensor' } as const
  const attribute = (name: string, value: object) => ({ name, type: 'Tensor', value })
  return writeProgram({
    ...{ family: 'caches', seed: 0, namedTuples: [], calls: [], looks: 'last' },
    storages: [0, 1].map(() => ({ dtype: 'float32', data })),
    classes: [
      {
        name: 'M',
        attributes: [attribute('keys', { ...cacheOf(0), id: 1 }), attribute('values', shared ? { same: 1 } : cacheOf(1))],
        methods: [
          {
            name: 'forward',
            parameters: [
              { name: 'x', type: tensorType },
              { name: 'at', type: tensorType },
            ],
            returns: tensorType,
            body: lines.map((text): Statement => ({ kind: 'line', text })),
            result,
          },
        ],
      },
    ],
  } as never)
}

const ATTENTION = 'y = torch.scaled_dot_product_attention(x, k, v, torch.unsqueeze(torch.le(torch.arange(12), at), 0))'
const COPIED = ['k = torch.index_copy_(self.keys, 2, at, x)', 'v = torch.index_copy_(self.values, 2, at, torch.mul(x, 3))']

const NETWORKS: Readonly<Record<string, readonly string[]>> = {
  'rows that are written in place': [...COPIED, ATTENTION],
  'rows of a copy that is written back': [
    'k0 = torch.index_copy(self.keys, 2, at, x)',
    'v0 = torch.index_copy(self.values, -2, at, torch.mul(x, 3))',
    'k = torch.copy_(self.keys, k0)',
    'v = torch.copy_(self.values, v0)',
    ATTENTION,
  ],
  'rows by lists of indices': [
    'k = torch.index_put_(self.keys, [torch.zeros_like(at), torch.zeros_like(at), at], torch.select(torch.select(x, 0, 0), 0, 0))',
    'v = torch.index_copy_(self.values, 2, at, x)',
    ATTENTION,
  ],
  'caches that move on by a row': [
    'k = torch.copy_(self.keys, torch.cat([torch.slice(self.keys, 2, 1, 12), x], 2))',
    'v = torch.copy_(self.values, torch.cat([torch.slice(self.values, 2, 1, 12), x], 2))',
    'y = torch.scaled_dot_product_attention(x, k, v)',
  ],
  'a step that clears one first': ['z = torch.zero_(self.keys)', ...COPIED, ATTENTION],
}

const step = (i: number): Tensor[] => [
  tensor(
    Float32Array.from({ length: HEADS * WIDTH }, (_, j) => Math.cos(i * 31 + j)),
    [1, HEADS, 1, WIDTH],
  ),
  tensor(BigInt64Array.of(BigInt(i)), [1]),
]
const floats = (value: unknown): Float32Array => (value as Tensor).data() as Float32Array
const furthest = (a: Float32Array, b: Float32Array): number =>
  a.reduce((most, v, i) => Math.max(most, Math.abs(v - b[i]!)), 0) / b.reduce((most, v) => Math.max(most, Math.abs(v)), 0)

for (const [name, lines] of Object.entries(NETWORKS)) {
  t.test(name, async (t) => {
    const path = join(folder, `${name.replaceAll(' ', '-')}.pt`)
    writeFileSync(path, network(lines, { filled: 3 }))
    const exact = await loadModule(path, { compile: 'off' })
    const wanted = Array.from({ length: 8 }, (_, i) => floats(exact.forward(...(step(i + 3) as [Tensor, Tensor]))))
    exact.dispose()
    for (const kvCache of FORMATS) {
      const modules: Record<string, Module> = {}
      for (const compile of ['off', 'eager', 'auto'] as const) modules[compile] = await loadModule(path, { kvCache, compile })
      modules['run'] = await loadModule(path, { kvCache })
      writeFileSync(
        `${path}lc`,
        compileAhead(path, () => [{ method: 'forward', args: step(3) }], { kvCache }),
      )
      modules['ahead'] = await loadModule(`${path}lc`)
      for (let i = 0; i < 8; i++) {
        const found = floats(modules['off']!.forward(...(step(i + 3) as [Tensor, Tensor])))
        const error = furthest(found, wanted[i]!)
        t.ok(error > 0 && error < BOUNDS[kvCache], `${kvCache}, step ${i}: an error of ${error}`)
        for (const how of ['eager', 'auto', 'ahead']) {
          const other = floats(modules[how]!.forward(...(step(i + 3) as [Tensor, Tensor])))
          t.ok(furthest(other, found) < 1e-6, `${kvCache}, ${how}, step ${i}: ${furthest(other, found)}`)
        }
        t.ok(furthest(floats(await modules['run']!.run('forward', step(i + 3))), found) < 1e-6, `${kvCache}, run(), step ${i}`)
      }
      t.same(
        modules['eager']!.plans().map(({ state }) => state),
        ['plan'],
      )
      const kept = modules['eager']!.parameters()
      t.same([kept.get('keys')!.dtype, kept.has('keys_scales')], [kvCache, kvCache === 'int8'])
      for (const module of Object.values(modules)) module.dispose()
    }
  })
}

const OTHERS: Readonly<Record<string, readonly [readonly string[], Parameters<typeof network>[1]?]>> = {
  'is returned': [[...COPIED, ATTENTION], { result: 'k' }],
  'is shown by a result': [['v = torch.index_copy_(self.values, 2, at, x)', ...COPIED], { result: 'torch.slice(k, 2, 0, 4)' }],
  'is written to by columns': [['k = torch.index_copy_(self.keys, 3, at, torch.zeros([1, 2, 12, 1]))', 'y = torch.sum(k)']],
  'is written to by another operator': [['k = torch.add_(torch.index_copy_(self.keys, 2, at, x), 1.)', 'y = torch.sum(k)']],
  'is written to through a view': [
    ['k = torch.index_copy_(self.keys, 2, at, x)', 'p = torch.fill_(torch.slice(self.keys, 2, 0, 1), 2)', 'y = torch.sum(self.keys)'],
  ],
  'is read through a view of before a write': [
    ['p = torch.slice(self.keys, 2, 0, 12)', 'k = torch.index_copy_(self.keys, 2, at, x)', 'y = torch.sum(p)'],
  ],
  'is never written to': [['y = torch.sum(torch.mul(self.keys, x))']],
  'has a number added up in it': [
    ['k = torch.index_put_(self.keys, [torch.zeros_like(at), torch.zeros_like(at), at], x, True)', 'y = torch.sum(k)'],
  ],
}

t.test('what is no cache', async (t) => {
  for (const [name, [lines, options]] of Object.entries(OTHERS)) {
    // the other cache of a network goes on
    const found = await loadModule(network(lines, options), { kvCache: 'int8' }).then(
      (module) => module.parameters().get('keys')!.dtype,
      (error: { code: string; message: string }) => (/no cache of keys or values/.test(error.message) ? error.code : error.message),
    )
    t.ok(found === 'float32' || found === 'INVALID_ARGUMENT', `${name}: ${found}`)
  }
  const twice = network([...COPIED, ATTENTION], { shared: true })
  await t.rejects(loadModule(twice, { kvCache: 'int8' }), { code: 'INVALID_ARGUMENT', message: /no cache/ }, 'one of two names')
  await t.rejects(loadModule(twice, { kvCache: 'int4' } as unknown as LoadOptions), { code: 'INVALID_ARGUMENT' })
})

t.test('a compiled file has the caches that it was compiled with', async (t) => {
  const path = join(folder, 'ahead.pt')
  writeFileSync(path, network([...COPIED, ATTENTION]))
  const [narrow, plain] = [{ kvCache: 'int8' } as const, {}].map((options) =>
    compileAhead(path, () => [{ method: 'forward', args: step(0) }], options),
  )
  ;(await loadModule(narrow!, { kvCache: 'int8' })).dispose()
  await t.rejects(loadModule(narrow!, { kvCache: 'float16' }), { code: 'INVALID_ARGUMENT', message: /compiled with: int8 caches/ })
  await t.rejects(loadModule(plain!, { kvCache: 'int8' }), { code: 'INVALID_ARGUMENT', message: /caches as its model has them/ })
})

t.test('programs of exporters', async (t) => {
  for (const name of ['llama-buffers.pt2', 'gpt2-buffers-step.pt2', 'llama-tokens-place.pte']) {
    const bytes = gunzipSync(readFileSync(new URL(`../fixtures/generation/${name}.gz`, import.meta.url)))
    const [off, eager] = [
      await loadModule(bytes, { kvCache: 'int8', compile: 'off' }),
      await loadModule(bytes, { kvCache: 'int8', compile: 'eager' }),
    ]
    const caches = [...off.parameters().values()].filter(({ dtype, shape }) => dtype === 'int8' && shape.length === 4)
    t.ok(caches.length >= 4, `${name}: ${caches.length} caches`)
    for (let i = 0; i < 4; i++) {
      const args = [tensor(BigInt64Array.of(BigInt(5 + i)), [1, 1]), tensor(BigInt64Array.of(BigInt(i)), [1])]
      const [a, b] = [off, eager].map((module) => floats([module.call('forward', args)].flat(2)[0] ?? null))
      t.ok(furthest(b!, a!) < 1e-5, `${name}, step ${i}: ${furthest(b!, a!)}`)
    }
    off.dispose()
    eager.dispose()
  }
})
