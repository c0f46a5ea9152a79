// The model server, of an application that has the packages alone.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from '../targets.mjs'

/** Serves a model by `ptlite serve`, and asks for a result. */
export async function tryServer({ app, packed, archives, succeed }) {
  const archive = archives.find((name) => name.startsWith('ptlite-serve-'))
  // unpacked by hand, with links for what it needs: npm would look for these in a registry
  const folder = join(app, 'node_modules/@ptlite/serve')
  mkdirSync(folder, { recursive: true })
  succeed('tar', 'xzf', join(packed, archive), '-C', folder, '--strip-components=1')
  for (const name of Object.keys(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies)) {
    const link = join(app, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    if (!existsSync(link)) symlinkSync(join(root, 'serve/node_modules', name), link)
  }
  mkdirSync(join(app, 'models/digits/1'), { recursive: true })
  copyFileSync(join(app, 'digits.ptl'), join(app, 'models/digits/1/model.ptl'))
  const server = spawn(process.execPath, ['node_modules/ptlite/dist/cli.js', 'serve', 'models', '--port', '0', '--grpc-port', '0'], {
    cwd: app,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_PATH: '' },
  })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  try {
    const said = []
    let url
    for await (const line of createInterface(server.stderr)) {
      said.push(line)
      url = /listening on (http:\S+)/.exec(line)?.[1]
      if (url !== undefined) break
    }
    assert.ok(url !== undefined, said.join('\n'))
    server.stderr.resume()
    await ready(url)
    const inputs = [{ name: 'pixels', datatype: 'UINT8', shape: [1, 1, 8, 8], data: Array(64).fill(0) }]
    const answer = await fetch(`${url}/v2/models/digits/infer`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ inputs }),
    })
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    assert.deepEqual(JSON.parse(text).outputs[0].shape, [1, 10])
  } finally {
    server.kill()
    await ended
  }
  console.log(`served a model: ${archive}`)
}

/** Waits until the models are there. */
async function ready(url) {
  for (let tries = 0; tries < 600; tries++) {
    const answer = await fetch(`${url}/v2/health/ready`).catch(() => undefined)
    if (answer?.ok === true) return
    await new Promise((later) => setTimeout(later, 100))
  }
  throw new Error(`${url} is not ready`)
}
