import {
  useAdminKeyNames,
  useJudgeNames,
  useKeyNames,
  useMemberNames,
  usePolicyNames,
  useProjectNames,
  type Names,
} from '../../api/names.ts'
import { useMay, useMe } from '../../session/session.tsx'

/** The names of everything that an event can be about or caused by, as far as the signed-in key may see them. */
export function useNames(): Names {
  const { organization } = useMe()
  const mayReadKeys = useMay('keys:read')
  return new Map([
    ...usePolicyNames(useMay('policies:read')),
    ...useJudgeNames(useMay('judges:read')),
    ...useProjectNames(),
    ...useKeyNames(),
    ...useAdminKeyNames(mayReadKeys),
    ...useMemberNames(useMay('members:read')),
    [organization.id, organization.name],
  ])
}
