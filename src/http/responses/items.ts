import type { Citation } from '../../domain/inference/events.ts'
import type { ReasoningSignature } from '../../domain/inference/request.ts'
import { signatureText } from '../inference/signature-envelope.ts'
import { urlCitation } from '../inference/writing/url-citation.ts'
import type { Callee } from './namespaces.ts'

/** Output items of this dialect. The id of an item must be the same in all events. */

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export const textPart = (text: string, citations: readonly Citation[] = []) => ({
  type: 'output_text',
  text,
  annotations: citations.map((citation) => annotationOf(citation, text)),
  logprobs: [],
})

/** The indexes of a citation count from the start of its part, which is one block. */
export const annotationOf = (citation: Citation, text: string) => ({
  type: 'url_citation',
  ...urlCitation(citation, { offset: 0, length: text.length }),
})

export const refusalPart = (refusal: string) => ({ type: 'refusal', refusal })

export const messageItem = (id: string, status: ItemStatus, content: readonly unknown[]) => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content,
})

export type CallFields = Callee & { readonly id: string; readonly input: string }

export const functionCallItem = (id: string, status: ItemStatus, call: CallFields) => ({
  id,
  type: 'function_call',
  status,
  call_id: call.id,
  ...calleeFields(call),
  arguments: call.input,
})

const calleeFields = ({ name, namespace }: Callee): Callee => (namespace === undefined ? { name } : { name, namespace })

/** A call of a tool that takes free text. */
export const freeTextCallItem = (id: string, status: ItemStatus, call: CallFields) => ({
  id,
  type: 'custom_tool_call',
  status,
  call_id: call.id,
  ...calleeFields(call),
  input: call.input,
})

export const summaryPart = (text: string) => ({ type: 'summary_text', text })

/** Reasoning as a summary, because not all clients show raw reasoning. */
export const reasoningItem = (id: string, text: string, signature?: ReasoningSignature) => ({
  id,
  type: 'reasoning',
  summary: text === '' ? [] : [summaryPart(text)],
  ...(signature !== undefined && {
    encrypted_content: signatureText(signature, 'responses', signature.id === undefined ? undefined : id),
  }),
})
