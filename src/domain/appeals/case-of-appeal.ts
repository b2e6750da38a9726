import { rowOf } from '../audit/chain/chained-event.ts'
import { keptTexts } from '../audit/event/content.ts'
import { restorableOf } from '../audit/event/restorable.ts'
import type { LoggedEvent } from '../audit/log.ts'
import type { CaseInput } from '../cases/case.ts'
import type { TextDirection } from '../scan/classify/classifier.ts'

/** The disputed text of a request; undefined if it is not kept. */
export function disputedText({ content }: LoggedEvent, direction: TextDirection): string | undefined {
  const { prompt = '', response = '', withheld = '' } = keptTexts(content) ?? {}
  if (direction === 'response') return response + withheld || undefined
  if (prompt === '') return undefined
  const [only, second] = restorableOf(content).messages
  return only !== undefined && second === undefined ? only.text : prompt // the prompt names the role of each message
}

/** What a case of the request is given: the disputed text, with what rules read beside it. Undefined if the text is not kept. */
export function caseInputOf(event: LoggedEvent, direction: TextDirection): CaseInput | undefined {
  const text = disputedText(event, direction)
  if (text === undefined) return undefined
  const { model, userId } = rowOf(event.document, '')
  const context = { direction, ...(model !== null && { model }), ...(userId !== null && { user: userId }) }
  if (direction === 'response') return { text, ...context }
  const { messages } = restorableOf(event.content)
  if (messages.length < 2) return { text, ...context }
  return { messages: messages.map((message) => ({ role: roleOf(message), content: message.text })), ...context }
}

/** Rules do not read roles, and a message of a tool would need the call that it answers. */
const roleOf = ({ role }: { readonly role: string }): string =>
  role === 'assistant' || role === 'system' ? role : 'user'
