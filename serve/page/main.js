import { exampleBody } from './examples.js'
import { countsOf, ofModel, quantile, samplesOf } from './metrics.js'

/** Milliseconds between two looks at the server. */
const REFRESH = 2000
/** Characters of an answer that are shown. */
const MAX_SHOWN = 100_000

const $ = (id) => document.getElementById(id)
/** What is known of models by NAME/VERSION. */
const known = new Map()
let operations = []

/** Asks for something below the page. */
function ask(path, init = {}) {
  const token = $('token').value
  const headers = { ...init.headers, ...(token === '' ? {} : { Authorization: `Bearer ${token}` }) }
  return fetch(path, { ...init, headers })
}

async function read(path, as = 'json') {
  const answer = await ask(path)
  if (answer.status === 401) $('token-field').hidden = false
  if (!answer.ok) throw new Error(answer.status === 401 ? 'This server asks for a token.' : `${path}: status ${answer.status}`)
  return answer[as]()
}

function element(tag, text, className) {
  const made = document.createElement(tag)
  if (text !== undefined) made.textContent = text
  if (className !== undefined) made.className = className
  return made
}

function row(...cells) {
  const made = element('tr')
  made.append(...cells)
  return made
}

function tensors(all) {
  const cell = element('td')
  cell.append(...(all ?? []).map(({ name, datatype, shape }) => element('code', `${name}: ${datatype || '?'} [${shape.join(', ')}]`)))
  return cell
}

const number = (text) => element('td', String(text), 'number')
function milliseconds(seconds) {
  if (seconds === null) return '–'
  if (seconds < 1e-4) return '< 0.1'
  return seconds < 1 ? (1000 * seconds).toPrecision(3) : (1000 * seconds).toFixed(0)
}
const megabytes = (bytes) => (bytes / 1e6).toFixed(1)

/** A model's line; its metadata are asked for again until all of them are known. */
async function modelRow({ name, version, state, reason }, samples) {
  const key = `${name}/${version}`
  const status = element('td', state, state === 'READY' ? undefined : 'bad')
  if (reason !== '') status.append(element('div', reason, 'quiet'))
  if (state === 'READY' && !isKnown(known.get(key)))
    known.set(key, await read(`v2/models/${encodeURIComponent(name)}/versions/${version}`).catch(() => undefined))
  const of = (metric) => ofModel(samples, `ptlite_serve_${metric}`, name, version)
  const requests = of('requests_total')
  const sum = (all) => all.reduce((total, { value }) => total + value, 0)
  const seconds = of('request_seconds_bucket')
  const metadata = known.get(key)
  return row(
    element('td', version === '' ? name : `${name} ${version}`),
    status,
    tensors(metadata?.inputs),
    tensors(metadata?.outputs),
    number(sum(requests)),
    number(sum(requests.filter(({ labels }) => labels.status !== '200'))),
    number(milliseconds(quantile(seconds, 0.5))),
    number(milliseconds(quantile(seconds, 0.99))),
    number(sum(of('queue_depth'))),
    element(
      'td',
      countsOf(of('batch_size_bucket'))
        .map(({ most, count }) => `${most}: ${count}`)
        .join(', ') || '–',
    ),
  )
}

function isKnown(metadata) {
  const all = [...(metadata?.inputs ?? []), ...(metadata?.outputs ?? [])]
  return all.length > 0 && all.every(({ datatype }) => datatype !== '')
}

function workerRows(samples) {
  const bytes = (metric, worker) =>
    samples.get(`ptlite_serve_worker_${metric}_bytes`)?.find(({ labels }) => labels.worker === worker)?.value ?? 0
  const workers = (samples.get('ptlite_serve_worker_tensor_bytes') ?? []).map(({ labels }) => labels.worker)
  return workers.map((worker) => row(number(worker), number(megabytes(bytes('tensor', worker))), number(megabytes(bytes('heap', worker)))))
}

async function refresh() {
  const [{ models }, text] = await Promise.all([read('v2/models'), read('metrics', 'text')])
  const samples = samplesOf(text)
  $('models').tBodies[0].replaceChildren(...(await Promise.all(models.map((model) => modelRow(model, samples)))))
  $('workers').tBodies[0].replaceChildren(...workerRows(samples))
  offerModels([...new Set(models.filter(({ state }) => state === 'READY').map(({ name }) => name))])
}

function offerModels(names) {
  const select = $('model')
  if (names.join() === [...select.options].map(({ value }) => value).join()) return
  const chosen = select.value
  select.replaceChildren(...names.map((name) => new Option(name)))
  if (names.includes(chosen)) select.value = chosen
  offerBody()
}

async function start() {
  const [about, document] = await Promise.all([read('v2'), read('openapi.json')])
  $('version').textContent = about.version
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary }]) => ({ path, method: method.toUpperCase(), summary })),
  )
  $('operation').replaceChildren(
    ...operations.map(({ path, method, summary }, i) => new Option(`${method} ${path} – ${summary}`, String(i))),
  )
  $('operation').value = String(operations.findIndex(({ path }) => path === '/v2/models/{model}/infer'))
  offerBody()
}

/** The request that is chosen, with its parameters filled in. */
function chosen() {
  const { path, method } = operations[Number($('operation').value)]
  const model = $('model').value
  const version =
    [...known.keys()]
      .findLast((key) => key.startsWith(`${model}/`))
      ?.split('/')
      .at(-1) ?? '1'
  return { path, method, model, version, url: path.replace('{model}', encodeURIComponent(model)).replace('{version}', version).slice(1) }
}

function offerBody() {
  if (operations.length === 0) return
  const { path, method, model, version } = chosen()
  $('model-field').hidden = !path.includes('{model}') && !path.startsWith('/v1/')
  $('body-field').hidden = method === 'GET'
  $('body').value = method === 'GET' ? '' : indented(exampleBody(path, model, known.get(`${model}/${version}`)))
  showCommand()
}

function showCommand() {
  const { method, url } = chosen()
  const at = new URL(url, document.baseURI).href
  const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`
  $('command').textContent =
    method === 'GET' ? `curl ${quoted(at)}` : `curl ${quoted(at)} -d ${quoted($('body').value.replace(/\n\s*/g, ' '))}`
}

async function send() {
  const { method, url } = chosen()
  $('outcome').textContent = '…'
  const began = performance.now()
  const answer = await ask(url, method === 'GET' ? {} : { method, body: $('body').value, headers: { 'Content-Type': 'application/json' } })
  const text = await answer.text()
  const took = performance.now() - began
  $('outcome').textContent = `${answer.status} in ${took < 0.1 ? '< 0.1' : took.toFixed(1)} ms`
  $('outcome').className = answer.ok ? '' : 'bad'
  $('answer').hidden = false
  $('answer').textContent = shown(text)
}

/** JSON in lines, with lists of numbers and texts in one. */
function indented(value) {
  return JSON.stringify(value, null, 1).replace(/\[\s+([^[\]{}]*?)\s+\]/g, (_, items) => `[${items.replace(/,\n\s+/g, ', ')}]`)
}

function shown(text) {
  let pretty = text
  try {
    if (text.length <= MAX_SHOWN) pretty = indented(JSON.parse(text))
  } catch {
    // events, and metrics
  }
  return pretty.length > MAX_SHOWN ? `${pretty.slice(0, MAX_SHOWN)}…` : pretty
}

/** Does something whose failure is shown. */
async function attempt(action) {
  try {
    await action()
    $('fault').hidden = true
  } catch (error) {
    $('fault').textContent = error.message
    $('fault').hidden = false
  }
}

async function look() {
  await attempt(async () => {
    if (document.hidden) return
    if (operations.length === 0) await start()
    await refresh()
  })
  setTimeout(look, REFRESH)
}

$('operation').addEventListener('change', offerBody)
$('model').addEventListener('change', offerBody)
$('body').addEventListener('input', showCommand)
$('try').addEventListener('submit', (event) => {
  event.preventDefault()
  void attempt(send)
})
void look()
