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

/** What the search finds: the object of an id, and the pages whose name contains the words. */
export function commandsFor(query: string): readonly Command[] {
  const wanted = query.trim()
  return [...idCommands(wanted), ...pageCommands(wanted.toLowerCase())]
}

const idCommands = (id: string): Command[] =>
  requestId.test(id)
    ? [
        {
          id,
          name: words.shell.openRequest(id),
          hint: '',
          icon: 'requests',
          target: { to: '/requests/$requestId', params: { requestId: id } },
        },
      ]
    : []

const pageCommands = (wanted: string): Command[] =>
  pages
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .map(({ to, name, icon }) => ({ id: to, name, hint: words.shell.goTo, icon, target: { to } }))
