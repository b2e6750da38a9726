import type { InferenceRequest } from '../../domain/inference/request.ts'
import { qualifiedToolName } from '../../domain/inference/request.ts'
import { isRecord } from '../../base/record.ts'

/** A tool as callers of this dialect name it. */
export type Callee = { readonly name: string; readonly namespace?: string }

export type CalleeOf = (name: string) => Callee

/** Agents group tools in namespaces, such as those of an MCP server, and expect each call with both names. */
export function createCalleeOf({ raw }: InferenceRequest): CalleeOf {
  const { tools, input } = raw.body
  const later = recordsIn(input).flatMap((item) => recordsIn(item['tools']))
  const callees = new Map([...recordsIn(tools), ...later].flatMap(membersOf))
  return (name) => callees.get(name) ?? { name }
}

function membersOf({ type, name: namespace, tools }: Record<string, unknown>): [string, Callee][] {
  if (type !== 'namespace' || typeof namespace !== 'string') return []
  return recordsIn(tools).flatMap(({ name }) =>
    typeof name === 'string' ? [[qualifiedToolName(namespace, name), { namespace, name }]] : [],
  )
}

const recordsIn = (list: unknown): Record<string, unknown>[] => (Array.isArray(list) ? list.filter(isRecord) : [])
