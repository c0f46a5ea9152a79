/** Documented examples of other clients, tried on a server that has the models of `fixtures/repository`. */
import { GrpcConnection } from '../grpc/call.mjs'
import { send } from '../http.mjs'
import { examples as kserve } from './kserve.mjs'
import { examples as mlserver } from './mlserver.mjs'
import { examples as tritonclient } from './tritonclient.mjs'

export const EXAMPLES = [...kserve, ...mlserver, ...tritonclient]

/** For each example what is wrong, or undefined. */
export async function tryExamples(url, address) {
  const connection = new GrpcConnection(address)
  try {
    const results = []
    for (const example of EXAMPLES) results.push({ example, fault: await fault(example, url, connection).catch((error) => error.message) })
    return results
  } finally {
    connection.close()
  }
}

async function fault({ run, grpc, request, status, check }, url, connection) {
  if (run !== undefined) return run({ send: (each) => send(url, each) })
  if (grpc !== undefined) {
    const { code, message, answer } = await connection.call(grpc.method, grpc.request)
    return code === 0 ? check(answer) : `status ${code}: ${message}`
  }
  const answer = await send(url, request)
  const fits = status === '4xx' ? answer.status >= 400 && answer.status < 500 : answer.status === status
  return fits ? check?.(answer) : `expected status ${status}, found ${answer.status}: ${answer.body.toString().slice(0, 300)}`
}
