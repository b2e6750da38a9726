import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Names } from '../../api/names.ts'
import { ShortId, shortId } from '../../kit/short-id.tsx'

type ObjectLinkProps = { readonly id: string; readonly kind: string; readonly names: Names }

/** The object of an event by its name, with a link to its page. What has no page is shown by its id. */
export function ObjectLink({ id, kind, names }: ObjectLinkProps) {
  const label = names.get(id) ?? shortId(id)
  return linkTo(id, kind, label) ?? <ShortId id={id} />
}

/** A deleted object has no page. */
function linkTo(id: string, kind: string, label: string): ReactNode {
  if (kind.endsWith('.deleted')) return undefined
  if (id.startsWith('pol_'))
    return (
      <Link to="/policies/$policyId" params={{ policyId: id }}>
        {label}
      </Link>
    )
  if (id.startsWith('jdg_'))
    return (
      <Link to="/judges" search={{ judge: id }}>
        {label}
      </Link>
    )
  if (id.startsWith('apl_'))
    return (
      <Link to="/reviews" search={{ appeal: id }}>
        {label}
      </Link>
    )
  if (id.startsWith('req_'))
    return (
      <Link to="/requests/$requestId" params={{ requestId: id }}>
        {label}
      </Link>
    )
  if (id.startsWith('sink_'))
    return (
      <Link to="/sinks/$sinkId" params={{ sinkId: id }}>
        {label}
      </Link>
    )
  if (id.startsWith('mem_')) return <Link to="/members">{label}</Link>
  if (id.startsWith('proj_'))
    return (
      <Link to="/projects" search={{ tab: 'projects' }}>
        {label}
      </Link>
    )
  if (id.startsWith('adk_'))
    return (
      <Link to="/projects" search={{ tab: 'administrators' }}>
        {label}
      </Link>
    )
  if (id.startsWith('key_')) return <Link to="/projects">{label}</Link>
  if (id.startsWith('ups_') || id.startsWith('mdl_')) return <Link to="/models">{label}</Link>
  if (id.startsWith('chan_') || id.startsWith('rule_')) return <Link to="/alerts">{label}</Link>
  if (kind.startsWith('gateway.')) return <Link to="/gateway">{label}</Link>
  return undefined
}
