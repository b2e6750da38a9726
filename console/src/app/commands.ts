import type { NavigateOptions } from '@tanstack/react-router'
import type { IconName } from '../kit/icon.tsx'
import { words } from '../words/en.ts'
import { pages } from './pages.ts'

export type Command = {
  readonly id: string
  readonly name: string
  readonly hint: string
  readonly icon: IconName
  readonly target: NavigateOptions
}

const requestId = /^req_\w+$/
const policyId = /^pol_\w+$/
const sinkId = /^sink_\w+$/

/** What the search finds: the object of an id, and the pages whose name contains the words. */
export function commandsFor(query: string): readonly Command[] {
  const wanted = query.trim()
  return [...idCommands(wanted), ...pageCommands(wanted.toLowerCase())]
}

function idCommands(id: string): Command[] {
  const open = (name: string, icon: IconName, target: NavigateOptions): Command[] => [
    { id, name, hint: '', icon, target },
  ]
  if (requestId.test(id))
    return open(words.shell.openRequest(id), 'requests', { to: '/requests/$requestId', params: { requestId: id } })
  if (policyId.test(id))
    return open(words.shell.openPolicy(id), 'policies', { to: '/policies/$policyId', params: { policyId: id } })
  if (sinkId.test(id))
    return open(words.shell.openSink(id), 'exports', { to: '/exports/$exportId', params: { exportId: id } })
  return []
}

const pageCommands = (wanted: string): Command[] =>
  pages
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .map(({ to, name, icon }) => ({ id: to, name, hint: words.shell.goTo, icon, target: { to } }))
