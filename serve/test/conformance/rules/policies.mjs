/** Parameters of a request that extensions give a meaning. */
import { withParameters } from '../subject.mjs'

const asking = (parameters) => (s) => s.inferBinary(withParameters(parameters))

const taken = [
  ['schedule_policy', 'Triton, Schedule Policy Extension: Dynamic Batcher', 'a priority is taken', { priority: 1 }],
  ['schedule_policy', 'Triton, Schedule Policy Extension: Dynamic Batcher', 'priority 0 is the default', { priority: 0 }],
  ['schedule_policy', 'Triton, Schedule Policy Extension: Dynamic Batcher', 'a timeout in microseconds is taken', { timeout: 20_000_000 }],
  ['parameters', 'Triton, Parameters Extension: HTTP/REST', 'parameters of the user are taken', { my_custom_parameter: 42 }],
]
const steps = (id) => [{ sequence_id: id, sequence_start: true }, { sequence_id: id }, { sequence_id: id, sequence_end: true }]
const SEQUENCE = 'Triton, Sequence Extension'

export const rules = [
  ...taken.map(([extension, section, rule, parameters]) => ({
    extension,
    section,
    rule,
    request: asking(parameters),
    status: 200,
    answer: 'INFERENCE',
  })),
  ...[
    ['sequence', 'a number', 4711],
    ['sequence(string_id)', 'a string', 'e333c95a-07fc-42d2-ab16-033b1a566ed5'],
  ].map(([extension, what, id]) => ({
    extension,
    section: `${SEQUENCE}: sequence_id`,
    rule: `steps of a sequence whose id is ${what} are taken`,
    stateful: true,
    async run(s) {
      for (const parameters of steps(id)) {
        const { status, body } = await s.send(asking(parameters)(s))
        if (status !== 200) return `${JSON.stringify(parameters)}: status ${status}: ${body}`
      }
      return undefined
    },
  })),
  {
    extension: 'sequence',
    section: `${SEQUENCE}: sequence_start`,
    rule: 'a start without an id is an error',
    stateful: true,
    request: asking({ sequence_start: true }),
    status: '4xx',
    answer: 'ERROR',
  },
  {
    extension: 'sequence',
    section: `${SEQUENCE}: sequence_start`,
    rule: 'a step of a sequence that was not started is an error',
    stateful: true,
    request: asking({ sequence_id: 987654 }),
    status: '4xx',
    answer: 'ERROR',
  },
]
