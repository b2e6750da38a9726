import type { ReactNode } from 'react'
import { MissingPermission } from '../session/missing-permission.tsx'
import { useMe } from '../session/session.tsx'
import { mayOpen, type PageLink } from './pages.ts'

type GateProps = { readonly page: PageLink | undefined; readonly children: ReactNode }

/** A page, for those who may open it. The menu does not show it to others, but a link may lead them to it. */
export function PageGate({ page, children }: GateProps) {
  const { permissions } = useMe()
  if (page === undefined || mayOpen(page, permissions)) return children
  return <MissingPermission needs={page.needs ?? []} />
}
