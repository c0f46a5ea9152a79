import { h, terms } from '../dom.js'
import { counted, formatBytes } from '../format.js'
import { errorNotice } from '../notice.js'
import { table } from '../table.js'

export function overviewPanel({ report, refusal }) {
  const { missing, operators, methods, extraFiles, compiled } = report
  return [
    missing.length > 0
      ? errorNotice('This model cannot be run here', { code: 'MISSING_OPERATOR', message: `This build lacks ${missing.join(', ')}` })
      : null,
    compiled !== null && refusal !== null
      ? errorNotice('This model cannot be run here', { code: 'UNSUPPORTED_FILE', message: refusal })
      : null,
    h('h2', {}, 'Methods'),
    h('ul', { class: 'methods' }, ...methods.map((method) => h('li', {}, signature(method)))),
    compiled === null ? null : compiledView(compiled),
    h('h2', {}, 'Operators'),
    table({
      rows: operators,
      columns: [
        { name: 'Operator', cell: ({ name }) => h('code', {}, name), sort: ({ name }) => name },
        { name: 'Functions', number: true, most: true, cell: ({ functions }) => functions, sort: ({ functions }) => functions },
        {
          name: 'Here',
          cell: ({ present }) => (present ? 'yes' : h('strong', { class: 'bad' }, 'missing')),
          sort: ({ present }) => (present ? 1 : 0),
        },
      ],
      textOf: ({ name, present }) => `${name} ${present ? '' : 'missing'}`,
      caption: 'Operators that the code calls',
      search: 'Search operators',
      what: 'operator',
    }),
    extraFiles.length === 0 ? null : [h('h2', {}, 'Extra files'), terms(extraFiles.map(({ name, bytes }) => [name, formatBytes(bytes)]))],
    h('h2', {}, 'Versions'),
    terms([
      ['Bytecode', String(report.bytecodeVersion)],
      ['Operators', String(report.operatorVersion)],
    ]),
  ]
    .flat()
    .filter(Boolean)
}

function signature({ name, inputs, outputs, instructions }) {
  const argument = ({ name, type, dtype, shape }) => {
    const sized = dtype !== undefined && shape !== undefined ? `${dtype}[${shape.map(({ text }) => text).join(', ')}]` : type
    return [h('span', { class: 'argument' }, name), ': ', h('span', { class: 'type' }, sized)]
  }
  const list = (inputs ?? []).flatMap((input, i) => [...(i === 0 ? [] : [', ']), ...argument(input)])
  const results = (outputs ?? []).map(({ type, dtype, shape }) =>
    dtype !== undefined && shape !== undefined ? `${dtype}[${shape.map(({ text }) => text).join(', ')}]` : type,
  )
  return [
    h(
      'code',
      {},
      h('strong', {}, name),
      '(',
      ...(inputs === null ? ['…'] : list),
      ')',
      results.length === 0 ? null : [' → ', h('span', { class: 'type' }, results.join(', '))],
    ),
    instructions === null ? null : h('span', { class: 'quiet' }, counted(instructions, 'instruction')),
  ]
}

function compiledView({ library, level, original, plans, unusable }) {
  return h(
    'section',
    {},
    h('h2', {}, 'Compiled ahead'),
    terms([
      ['By', `ptlite ${library}`],
      ['For', level],
      ['From', original],
      ['Here', unusable === null ? 'its plans can be used' : h('span', { class: 'bad' }, 'its plans cannot be used')],
    ]),
    table({
      rows: plans,
      columns: [
        { name: 'Plan', cell: ({ method, signature }) => h('code', {}, `${method}(${signature})`), sort: ({ method }) => method },
        { name: 'Kernel calls', number: true, most: true, cell: ({ kernels }) => sumOf(kernels), sort: ({ kernels }) => sumOf(kernels) },
        {
          name: 'Arena',
          number: true,
          most: true,
          cell: ({ arenaBytes }) => formatBytes(arenaBytes),
          sort: ({ arenaBytes }) => arenaBytes,
        },
      ],
      textOf: ({ method, signature }) => `${method} ${signature}`,
      caption: 'Plans',
      what: 'plan',
    }),
  )
}

function sumOf(kernels) {
  return Object.values(kernels).reduce((a, b) => a + b, 0)
}
