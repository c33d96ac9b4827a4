import type { ServiceSection } from '../config/section.ts';
import { gfaSection } from './gfa/configuration.ts';
import { portalSection } from './portal/configuration.ts';

export const serviceSections: readonly ServiceSection[] = [gfaSection, portalSection];
