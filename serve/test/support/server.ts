import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PtliteServer, ServeOptions } from '../../src/index.js'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** What the package depends on is beside it. */
export const requireOfServe = createRequire(here('../../package.json'))

export function fixture(name: string): string {
  return here(`../fixtures/${name}`)
}

export type Body = NonNullable<RequestInit['body']>

interface Test {
  teardown(action: () => unknown): void
}

/** A folder of models: files by path, which are copied, bytes, or JSON. It is gone after the test. */
export function repository(t: Test, files: Readonly<Record<string, string | object>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-serve-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) put(folder, path, content)
  return folder
}

/** In place of what is there, as programs that deploy files do it: what has the old one mapped keeps it. */
export function put(folder: string, path: string, content: string | object): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  rmSync(join(folder, path), { force: true })
  if (typeof content === 'string') copyFileSync(content, join(folder, path))
  else writeFileSync(join(folder, path), content instanceof Uint8Array ? content : JSON.stringify(content))
}

/** The package as it was built. */
export async function servePackage(): Promise<typeof import('../../src/index.js')> {
  return (await import(here('../../dist/index.js'))) as typeof import('../../src/index.js')
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

export interface Started extends PtliteServer {
  get(path: string, init?: RequestInit): Promise<Answer>
  post(path: string, body?: unknown, init?: RequestInit): Promise<Answer>
  infer(model: string, inputs: readonly object[], more?: object): Promise<Answer>
}

/** A server whose models are loaded, on a free port; it ends with the test. */
export async function start(t: Test, folder: string, options: Partial<ServeOptions> = {}): Promise<Started> {
  const { serve } = await servePackage()
  const server = await serve({ repository: folder, port: 0, workers: 2, logLevel: 'silent', drain: 3000, ...options })
  t.teardown(() => server.close())
  await server.ready
  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    const answer = await fetch(`${server.url}${path}`, init)
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json') === true
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
  }
  const post = (path: string, body: unknown = {}, init: RequestInit = {}): Promise<Answer> =>
    ask(path, {
      method: 'POST',
      body: typeof body === 'string' || body instanceof Uint8Array ? (body as Body) : JSON.stringify(body),
      ...init,
    })
  return {
    ...server,
    get: (path, init = {}) => ask(path, init),
    post,
    infer: (model, inputs, more = {}) => post(`/v2/models/${model}/infer`, { inputs, ...more }),
  }
}

/** A tensor of a request. */
export function input(name: string, datatype: string, shape: readonly number[], data: readonly unknown[]): object {
  return { name, datatype, shape, data }
}
