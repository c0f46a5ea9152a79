/** Tries the rules on a server. */
import { GrpcConnection } from './grpc/call.mjs'
import { rules as binary } from './rules/binary.mjs'
import { rules as grpc } from './rules/grpc.mjs'
import { rules as health } from './rules/health.mjs'
import { rules as inference } from './rules/inference.mjs'
import { rules as policies } from './rules/policies.mjs'
import { rules as repository } from './rules/repository.mjs'
import { rules as statistics } from './rules/statistics.mjs'
import * as shapes from './shape.mjs'
import { findSubject } from './subject.mjs'

/** What changes the server comes last. */
export const RULES = [...health, ...inference, ...binary, ...policies, ...statistics, ...repository, ...grpc].sort(
  (a, b) => !!a.changes - !!b.changes,
)

/**
 * A result for each rule: `outcome` is passed, failed or skipped, `reason` says why it is not passed.
 * `changes`: models may be unloaded and loaded. `stateful`: the model keeps a state for each sequence, so that the rules of sequences alone are tried.
 */
export async function tryRules(url, { grpc: address, model, token, changes = false, stateful = false, rules = RULES } = {}) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const subject = await findSubject(url, model, headers)
  subject.grpc = address === undefined ? undefined : new GrpcConnection(address, headers)
  try {
    const results = []
    for (const rule of rules) {
      const why = skipped(rule, subject, { changes, stateful })
      const reason = why ?? (await fault(rule, subject).catch((error) => error.message))
      results.push({ rule, outcome: why !== undefined ? 'skipped' : reason === undefined ? 'passed' : 'failed', reason })
    }
    return results
  } finally {
    subject.grpc?.close()
  }
}

function skipped(
  { grpc: needsGrpc = false, extension, when, changes: isChange = false, stateful: isOfSequences = false },
  subject,
  { changes, stateful },
) {
  if (needsGrpc && subject.grpc === undefined) return 'no address of gRPC was given'
  if (extension !== undefined && !subject.has(extension)) return `the server does not say that it has ${extension}`
  if (isOfSequences !== stateful) return stateful ? 'the model keeps a state' : 'the model keeps no state'
  if (isChange && !changes) return 'it unloads models'
  return when === undefined || when(subject) ? undefined : 'it does not apply to this model'
}

/** What is wrong, or undefined. */
async function fault(rule, subject) {
  if (rule.run !== undefined) return rule.run(subject)
  return rule.grpc === true ? grpcFault(rule, subject) : restFault(rule, subject)
}

async function restFault({ request, status, answer, check }, subject) {
  const found = await subject.send(request(subject))
  // `error` where the specification does not say whose fault it is
  const fits = typeof status === 'number' ? found.status === status : found.status >= 400 && (status === 'error' || found.status < 500)
  if (!fits) return `expected status ${status}, found ${found.status}: ${shapes.text(found.body.toString())}`
  return (answer === undefined ? undefined : shapes.misfit(found.json, shapes[answer] ?? answer)) ?? check?.(found, subject)
}

async function grpcFault({ method, request, code = [0], check }, subject) {
  const found = await subject.grpc.call(method, request(subject))
  if (!code.includes(found.code)) return `expected status ${code.join(' or ')}, found ${found.code}: ${found.message}`
  if (found.code !== 0 && found.message === '') return `status ${found.code} has no message`
  return check?.(found.answer, subject)
}
