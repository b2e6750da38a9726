import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'

export type System = components['schemas']['System']
export type Setting = components['schemas']['SystemSetting']
export type Finding = components['schemas']['SystemFinding']

const refreshMs = 30_000

export const useSystem = (isEnabled: boolean) =>
  useQuery({
    queryKey: ['system'],
    queryFn: (): Promise<System> => dataOf(api.GET('/v1/organization/system')),
    refetchInterval: refreshMs,
    enabled: isEnabled,
  })
