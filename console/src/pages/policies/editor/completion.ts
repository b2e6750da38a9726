import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { functions, keysOf, methods, variables } from './vocabulary.ts'

/** Completes the names of an expression: keys inside `pii["…"]`, methods after a dot, otherwise variables and functions. */
export function completeRule(context: CompletionContext): CompletionResult | null {
  if (!context.state.sliceDoc(0, 4).startsWith('cel:')) return null
  return completeKey(context) ?? completeMethod(context) ?? completeName(context)
}

function completeKey(context: CompletionContext): CompletionResult | null {
  const typed = context.matchBefore(/\b(?:categories|pii|prompt_injection)\["[\w/-]*/)
  if (typed === null) return null
  const [map = '', key = ''] = typed.text.split('["')
  const options = (keysOf[map] ?? []).map((label) => ({ label, type: 'constant' }))
  return { from: context.pos - key.length, options, validFor: /^[\w/-]*$/ }
}

function completeMethod(context: CompletionContext): CompletionResult | null {
  const typed = context.matchBefore(/\.\w*/)
  return typed === null ? null : { from: typed.from + 1, options: methods, validFor: /^\w*$/ }
}

function completeName(context: CompletionContext): CompletionResult | null {
  const typed = context.matchBefore(/\w+/)
  if (typed === null && !context.explicit) return null
  // Inside a string there is nothing to complete.
  const line = context.state.doc.lineAt(context.pos)
  const before = line.text.slice(0, context.pos - line.from).replaceAll(/\\./g, '')
  if ((before.match(/"/g) ?? []).length % 2 === 1) return null
  return { from: typed?.from ?? context.pos, options: [...variables, ...functions], validFor: /^[\w.]*$/ }
}
