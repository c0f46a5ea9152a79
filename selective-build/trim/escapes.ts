import ts from 'typescript'
import { isFunction } from './syntax.js'

/** Methods of arrays and maps that call a function before they return. */
const CALLERS = new Set([
  'every',
  'filter',
  'find',
  'findIndex',
  'flatMap',
  'forEach',
  'from',
  'map',
  'reduce',
  'reduceRight',
  'some',
  'sort',
])

/**
 * Calls `visit` for the functions that code hands on, so that they may be called later by code that is not seen: functions that stand in
 * it as values, and names of functions that are not called where they stand.
 */
export function forEachEscape(node: ts.Node, functions: ReadonlySet<string>, visit: (node: ts.Node) => void): void {
  ts.forEachChild(node, (child) => {
    const isNamed = isFunctionName(child, functions)
    const isArrow = ts.isArrowFunction(child) && !ts.isPropertyAssignment(child.parent)
    if ((isNamed || isArrow) && !isCalledAtOnce(child)) visit(child)
    // what stands in another function is handed on by that
    if (!isFunction(child)) forEachEscape(child, functions, visit)
  })
}

function isFunctionName(node: ts.Node, functions: ReadonlySet<string>): boolean {
  if (!ts.isIdentifier(node) || !functions.has(node.text)) return false
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return false
  if (ts.isCallExpression(parent) || ts.isNewExpression(parent)) return parent.expression !== node
  return !(ts.isPropertyAssignment(parent) && parent.name === node) && !ts.isFunctionDeclaration(parent)
}

function isCalledAtOnce(node: ts.Node): boolean {
  const { parent } = node
  if (!ts.isCallExpression(parent) || parent.expression === node) return ts.isCallExpression(parent)
  return ts.isPropertyAccessExpression(parent.expression) && CALLERS.has(parent.expression.name.text)
}

/** Calls `visit` for functions of `unseen` that objects are made with, to be called when they see fit, but for those within others of `unseen`. */
export function forEachHandedOver(node: ts.Node, unseen: ReadonlySet<ts.Node>, visit: (node: ts.Node) => void): void {
  if (unseen.has(node)) return
  if (ts.isNewExpression(node))
    for (const argument of node.arguments ?? []) if (isFunction(argument) && unseen.has(argument)) visit(argument)
  ts.forEachChild(node, (child) => forEachHandedOver(child, unseen, visit))
}
