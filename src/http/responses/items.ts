import type { Proof } from '../../domain/inference/request.ts'
import { proofText } from '../proof-envelope.ts'

/** Output items of this dialect. All carry an id of their own, which must stay the same from first to last mention. */

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })

export const refusalPart = (refusal: string) => ({ type: 'refusal', refusal })

export const messageItem = (id: string, status: ItemStatus, content: readonly unknown[]) => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content,
})

export type Call = { readonly id: string; readonly name: string; readonly input: string }

export const functionCallItem = (id: string, status: ItemStatus, call: Call) => ({
  id,
  type: 'function_call',
  status,
  call_id: call.id,
  name: call.name,
  arguments: call.input,
})

/** A call of a tool that takes free text. */
export const freeTextCallItem = (id: string, status: ItemStatus, call: Call) => ({
  id,
  type: 'custom_tool_call',
  status,
  call_id: call.id,
  name: call.name,
  input: call.input,
})

export const summaryPart = (text: string) => ({ type: 'summary_text', text })

/** The summary form, since not all clients show the raw one. */
export const reasoningItem = (id: string, text: string, proof?: Proof) => ({
  id,
  type: 'reasoning',
  summary: text === '' ? [] : [summaryPart(text)],
  ...(proof !== undefined && {
    encrypted_content: proofText(proof, 'responses', proof.id === undefined ? undefined : id),
  }),
})
