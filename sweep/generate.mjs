#!/usr/bin/env node
// Generates with every language model that with_caches.py wrote to a folder, and compares with the tokens of PyTorch.
//
//   generate.mjs [--lib DIST/index.js] [--filter REGEX] [--form REGEX] [--compile auto|eager|off] [--threads N] [--draft FILE|prompt] DIR ...
//
// For each: 64 tokens behind prompts of 1, 7 and 100; the same of a session that goes back, of its forks, and of all prompts at the same time.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    lib: { type: 'string', default: fileURLToPath(new URL('../dist/index.js', import.meta.url)) },
    filter: { type: 'string', default: '' },
    form: { type: 'string', default: '' },
    compile: { type: 'string', default: 'auto' },
    threads: { type: 'string' },
    draft: { type: 'string' },
  },
})
const { generate, loadModule, openSession, setNumThreads, tensor } = await import(pathToFileURL(values.lib).href)
if (values.threads !== undefined) setNumThreads(Number(values.threads))
const { compile } = values
// whose guesses change no token
const draft = values.draft === undefined || values.draft === 'prompt' ? values.draft : await loadModule(values.draft, { compile })
const wanted = new RegExp(values.filter)
const isForm = (form) => new RegExp(values.form).test(form)
const FORMS = ['cached.pt2', 'step.pt2', 'rows.pt2', 'cached.pte', 'step.pte', 'places.pte', 'xnnpack.pte']

const tokensOf = async (generation) => {
  const tokens = []
  for await (const { token } of generation) tokens.push(token)
  return tokens
}

/** What XNNPACK gives, where that is another network. */
const ofXnnpack = (one) => ({ ...one, tokens: one.xnnpack ?? one.tokens })

/** How far two lists agree; null: all of it. */
function difference(found, expected) {
  const at = expected.findIndex((token, i) => found[i] !== token)
  return at < 0 && found.length === expected.length ? null : `token ${at} of ${expected.length}: ${found[at]} for ${expected[at]}`
}

/** What is wrong, one after the other. */
async function* faultsOf(open, cases) {
  const check = (what, found, expected) => {
    const wrong = difference(found, expected)
    return wrong === null ? [] : [`${what}: ${wrong}`]
  }
  const all = { maxTokens: 64, draft }
  for (const one of cases) {
    const { model, prompt } = await open(one)
    yield* check(`a prompt of ${one.prompt.length}`, await tokensOf(generate(model, prompt, all)), one.tokens)
  }
  if (cases.length === 0) return
  // what a session has seen is not computed again
  const last = cases.at(-1)
  const { model, inputs, tokens } = await open(last)
  const session = await openSession(model, inputs)
  const behind = (count) => [...tokens, ...last.tokens.slice(0, count)]
  yield* check('a session', await tokensOf(session.generate(tokens, { ...all, maxTokens: 20 })), last.tokens.slice(0, 20))
  const fork = await session.fork()
  session.rewind(Math.min(session.tokens.length, tokens.length + 5))
  const [back, forked] = await Promise.all([
    tokensOf(session.generate(behind(5), { ...all, maxTokens: 40 })),
    tokensOf(fork.generate(behind(20), { ...all, maxTokens: 40 })),
  ])
  yield* check('going back', back, last.tokens.slice(5, 45))
  yield* check('a fork', forked, last.tokens.slice(20, 60))
  for (const each of [session, fork]) each.dispose()
  // all at the same time
  const shared = cases.length > 1 && (await open(cases[0])).model === model
  if (shared) {
    const found = await Promise.all(cases.map(async (one) => tokensOf(generate(model, (await open(one)).prompt, all))))
    for (const [i, one] of cases.entries()) yield* check(`${one.prompt.length} tokens among others`, found[i], one.tokens)
  }
}

let count = 0
let failed = 0
async function judge(name, open, cases) {
  count++
  const began = performance.now()
  const faults = []
  try {
    for await (const fault of faultsOf(open, cases)) faults.push(fault)
  } catch (error) {
    faults.push(error.stack)
  }
  if (faults.length > 0) failed++
  console.log(
    faults.length === 0 ? 'equal ' : 'DIFFER',
    name.padEnd(24),
    `${Math.round(performance.now() - began)} ms`,
    `${cases.length} prompts`,
  )
  for (const fault of faults) console.log(`       ${fault}`)
}

for (const folder of positionals)
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.tokens.json') && wanted.test(each))) {
    const kind = file.slice(0, -'.tokens.json'.length)
    const cases = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    for (const form of FORMS) {
      const path = join(folder, `${kind}.${form}`)
      if (!isForm(form) || !existsSync(path)) continue
      const model = await loadModule(path, { compile })
      // torch.export makes no masks of fewer than four tokens
      const fit =
        form === 'rows.pt2' ? cases.filter(({ prompt }) => prompt.length >= 4) : form === 'xnnpack.pte' ? cases.map(ofXnnpack) : cases
      await judge(`${kind}.${form}`, ({ prompt }) => ({ model, prompt, inputs: {}, tokens: prompt }), fit)
      model.dispose()
    }
    for (const format of ['pt2', 'pte']) {
      const paths = ['encoder', 'decoder'].map((part) => join(folder, `${kind}.${part}.${format}`))
      if (!isForm(format) || !paths.every(existsSync)) continue
      const [encoder, decoder] = await Promise.all(paths.map((path) => loadModule(path, { compile })))
      const model = { encoder, decoder }
      await judge(
        `${kind}.${format}`,
        ({ prompt, features }) => {
          // of sound what is behind the decoder's first tokens, of text what is behind the encoder's
          const inputs = features === undefined ? { input_ids: prompt } : { input_features: tensor([features]) }
          const tokens = features === undefined ? [0] : prompt
          return { model, inputs, tokens, prompt: features === undefined ? prompt : { ...inputs, decoder_input_ids: prompt } }
        },
        cases,
      )
      for (const each of [encoder, decoder]) each.dispose()
    }
  }
console.log(`\n${count} models, ${failed} differ`)
process.exitCode = failed === 0 && count > 0 ? 0 : 1
