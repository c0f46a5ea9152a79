import { bar, h } from '../dom.js'
import { formatBytes, formatCount } from '../format.js'
import { table } from '../table.js'

export function parametersPanel({ report }) {
  const { parameters, parameterBytes } = report
  const most = Math.max(...parameters.map(({ bytes }) => bytes), 1)
  const bytes = { name: 'Size', number: true, most: true, cell: (row) => formatBytes(row.bytes), sort: (row) => row.bytes }
  const elements = ({ shape }) => shape.reduce((a, b) => a * b, 1)
  return [
    h('p', { class: 'quiet' }, `${formatBytes(parameterBytes)} in all`),
    table({
      rows: parameters,
      columns: [
        { name: 'Name', cell: ({ name }) => h('code', {}, name), sort: ({ name }) => name },
        { name: 'Type', cell: ({ dtype }) => dtype, sort: ({ dtype }) => dtype },
        { name: 'Shape', cell: ({ shape }) => h('code', {}, `[${shape.join(', ')}]`) },
        { name: 'Elements', number: true, most: true, cell: (row) => formatCount(elements(row)), sort: elements },
        bytes,
        { name: '', cell: (row) => bar(row.bytes / most) },
      ],
      textOf: ({ name, dtype, shape }) => `${name} ${dtype} [${shape.join(', ')}]`,
      caption: 'Parameters and buffers',
      search: 'Search parameters',
      what: 'tensor',
    }),
  ]
}
