import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { RequestError } from '../protocol/error.js'
import { DirectMessage } from './message.js'
import { answerInfer, type InferContext, sendError } from './infer.js'

/** Names that need no decoding: others take fastify's way. */
const INFER = /^\/v2\/models\/([A-Za-z0-9._-]{1,128})(?:\/versions\/([0-9]{1,18}))?\/infer$/

/** A server that answers requests for inference itself, and has `others` answer the rest: routing takes as long as a small model. */
export function serverWithHotPath(
  context: InferContext,
  isAllowed: (authorization: string | undefined) => boolean,
  tls: { readonly cert: Buffer; readonly key: Buffer } | null,
  others: RequestListener,
): Server {
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const match = request.method === 'POST' ? INFER.exec(request.url!) : null
    if (match === null) return others(request, response)
    if (!isAllowed(request.headers.authorization)) {
      request.resume()
      response.setHeader('WWW-Authenticate', 'Bearer')
      sendError(context, response, notAllowed())
      return
    }
    answerInfer(context, match[1]!, match[2], request, response)
  }
  const options = { IncomingMessage: DirectMessage }
  return tls === null ? createServer(options, listener) : (createTlsServer({ ...tls, ...options }, listener) as unknown as Server)
}

export function notAllowed(): RequestError {
  return new RequestError(401, 'expected "Authorization: Bearer TOKEN" with a token of this server')
}
