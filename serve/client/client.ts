import { decodeResponse } from './decode.js'
import { checkInputs, checkParameters, encodeRequest } from './encode.js'
import { InferenceError, wrong } from './errors.js'
import { indexEntries, isSaidToBe, modelMetadata, modelStatistics, serverMetadata } from './metadata.js'
import { Transport, type Request } from './transport.js'
import {
  type CallOptions,
  type ClientOptions,
  type IndexEntry,
  type InferOptions,
  type InferResult,
  type Input,
  type ModelMetadata,
  type ModelStatistics,
  type Parameters,
  type ServerMetadata,
  type VersionOptions,
} from './types.js'

/** A client of one server of the Open Inference Protocol (v2), over HTTP. Calls may run at the same time. */
export class InferenceClient {
  readonly #transport: Transport
  #binary: boolean | 'auto'

  /** `url` is the server's, without `v2`: `http://localhost:8000`. */
  constructor(url: string | URL, options: ClientOptions = {}) {
    this.#transport = new Transport(url, options)
    const { binary = 'auto' } = options
    if (binary !== 'auto' && typeof binary !== 'boolean') throw wrong(`binary: expected true, false or 'auto', found ${String(binary)}`)
    this.#binary = binary
  }

  /** Whether the server runs. False where it cannot be reached. */
  live(options: CallOptions = {}): Promise<boolean> {
    return this.#isSo('/health/live', options, 'live')
  }

  /** Whether the server, or one model of it, takes requests. False where it cannot be reached. */
  ready(model?: string, options: VersionOptions = {}): Promise<boolean> {
    return this.#isSo(model === undefined ? '/health/ready' : `${pathOf(model, options)}/ready`, options, 'ready', model !== undefined)
  }

  /** What the server is, and which extensions of the protocol it has. */
  async server(options: CallOptions = {}): Promise<ServerMetadata> {
    return serverMetadata((await this.#transport.send({ method: 'GET', path: '' }, options)).body)
  }

  /** The inputs, outputs and versions of a model. */
  async model(name: string, options: VersionOptions = {}): Promise<ModelMetadata> {
    return modelMetadata((await this.#transport.send({ method: 'GET', path: pathOf(name, options) }, options)).body)
  }

  /**
   * Runs a model. Inputs are checked before anything is sent. A request of a sequence is not made again after a lost connection, since the server may have
   * taken the step.
   */
  async infer(name: string, inputs: Readonly<Record<string, Input>>, options: InferOptions = {}): Promise<InferResult> {
    const path = `${pathOf(name, options)}/infer`
    const checked = checkInputs(inputs)
    const { body, headers } = encodeRequest(checked, options, await this.#takesBinary(options))
    const answer = await this.#transport.send({ method: 'POST', path, body, headers }, options, {
      isIdempotent: options.sequence === undefined,
    })
    return decodeResponse(answer.body, answer.headers.get('inference-header-content-length'))
  }

  /** What the server counted, of one model or of all. */
  async stats(model?: string, options: VersionOptions = {}): Promise<ModelStatistics[]> {
    const path = `${model === undefined ? '/models' : pathOf(model, options)}/stats`
    return modelStatistics((await this.#transport.send({ method: 'GET', path }, options)).body)
  }

  /** The models of the repository, those that are not loaded among them. */
  async index(options: CallOptions & { readonly ready?: boolean } = {}): Promise<IndexEntry[]> {
    const request = post('/repository/index', options.ready === undefined ? {} : { ready: options.ready })
    return indexEntries((await this.#transport.send(request, options)).body)
  }

  /** Loads a model of the repository, or loads it again. */
  load(model: string, options: CallOptions & { readonly parameters?: Parameters } = {}): Promise<void> {
    return this.#change('load', model, options)
  }

  /** Takes a model out of service. */
  unload(model: string, options: CallOptions & { readonly parameters?: Parameters } = {}): Promise<void> {
    return this.#change('unload', model, options)
  }

  async #change(what: string, model: string, options: CallOptions & { readonly parameters?: Parameters }): Promise<void> {
    const { parameters = {} } = options
    checkParameters(parameters, 'parameters')
    const request = post(`/repository/models/${segment('model', model)}/${what}`, { parameters })
    await this.#transport.send(request, options, { isIdempotent: false })
  }

  async #isSo(path: string, options: CallOptions, key: string, mayBeUnknown = false): Promise<boolean> {
    try {
      const { body } = await this.#transport.send({ method: 'GET', path }, options, { retries: 0 })
      return isSaidToBe(key, body)
    } catch (error) {
      if (!(error instanceof InferenceError)) throw error
      if (error.code === 'connection') return false
      // a wrong token or address is not a matter of waiting
      if (
        error.code === 'http' &&
        (error.status >= 500 || error.status === 400 || error.status === 429 || (mayBeUnknown && error.status === 404))
      )
        return false
      throw error
    }
  }

  async #takesBinary(options: CallOptions): Promise<boolean> {
    if (this.#binary === 'auto') {
      try {
        const { extensions } = await this.server(options)
        this.#binary = extensions.includes('binary_tensor_data')
      } catch (error) {
        // a gateway that lets nothing but inference through; another failure is no answer to the question
        if (!(error instanceof InferenceError) || error.code !== 'http' || ![401, 403, 404, 405].includes(error.status)) throw error
        this.#binary = false
      }
    }
    return this.#binary
  }
}

function post(path: string, value: object): Request {
  return { method: 'POST', path, body: new TextEncoder().encode(JSON.stringify(value)), headers: { 'content-type': 'application/json' } }
}

function pathOf(model: string, { version }: VersionOptions): string {
  const path = `/models/${segment('model', model)}`
  return version === undefined ? path : `${path}/versions/${segment('version', String(version))}`
}

function segment(what: string, name: string): string {
  // `.` and `..` would be taken out of the path
  if (typeof name !== 'string' || name === '' || name === '.' || name === '..')
    throw wrong(`${what}: expected a name, found ${JSON.stringify(name)}`)
  return encodeURIComponent(name)
}
