//! Versions of drivers, and which of them have a defect.

use super::Defects;

/// A driver's version: major, minor, patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The version of one of Mesa's drivers, from its `driverInfo`: `Mesa 25.0.7-2+deb13u1 (LLVM 19.1.7)`,
    /// `Mesa 26.3.0-devel (git-0123456789)`. llvmpipe's `driverVersion` is 1 up to 25.0.
    pub fn of_mesa(driver_info: &str) -> Option<Self> {
        let rest = driver_info.strip_prefix("Mesa ")?;
        let end = rest.find(|c: char| c != '.' && !c.is_ascii_digit());
        let mut numbers = rest[..end.unwrap_or(rest.len())].split('.').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Self(next()?, next()?, next().unwrap_or(0)))
    }
}

/// Defects that versions of a driver have, from the first to the last.
pub(super) struct Range {
    pub defects: Defects,
    /// The first version that may have them.
    pub since: Version,
    /// The first version known to be without, if there is one.
    pub until: Option<Version>,
}

impl Range {
    /// What all versions have, as far as is known.
    pub const fn always(defects: Defects) -> Self {
        Self {
            defects,
            since: Version(0, 0, 0),
            until: None,
        }
    }

    /// What versions before `until` have.
    pub const fn before(until: Version, defects: Defects) -> Self {
        Self {
            until: Some(until),
            ..Self::always(defects)
        }
    }

    /// What `since` and all later versions have, as far as is known.
    pub const fn since(since: Version, defects: Defects) -> Self {
        Self {
            since,
            ..Self::always(defects)
        }
    }

    /// What versions from `since` on have, but not `until` and later ones.
    pub const fn between(since: Version, until: Version, defects: Defects) -> Self {
        Self {
            since,
            ..Self::before(until, defects)
        }
    }

    fn holds(&self, version: Version) -> bool {
        version >= self.since && self.until.is_none_or(|until| version < until)
    }

    /// The defects of a version; those of all versions where it is not known.
    pub fn all_of(ranges: &[Self], version: Option<Version>) -> Defects {
        ranges
            .iter()
            .filter(|range| version.is_none_or(|version| range.holds(version)))
            .map(|range| range.defects)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mesa_says_its_version() {
        let cases = [
            ("Mesa 22.3.6 (LLVM 15.0.6)", Some(Version(22, 3, 6))),
            (
                "Mesa 25.0.7-2+deb13u1 (LLVM 19.1.7)",
                Some(Version(25, 0, 7)),
            ),
            (
                "Mesa 26.3.0-devel (git-0123456789)",
                Some(Version(26, 3, 0)),
            ),
            ("Mesa 26.3", Some(Version(26, 3, 0))),
            ("Mesa 26", None),
            ("Mesa git", None),
            ("Mesa 99999999999.1.1", None),
            ("580.159.04", None),
            ("", None),
        ];
        for (info, version) in cases {
            assert_eq!(Version::of_mesa(info), version, "{info}");
        }
    }

    #[test]
    fn a_version_has_the_defects_of_the_ranges_that_hold_it() {
        let (old, new) = (Defects::MISTAKES_SIGNS, Defects::SEARCHES_ALL_PATHS);
        let ranges = [
            Range::before(Version(25, 0, 0), old),
            Range::since(Version(25, 0, 8), new),
        ];
        let of = |version| Range::all_of(&ranges, version);
        assert_eq!(of(Some(Version(22, 3, 6))), old);
        assert_eq!(of(Some(Version(24, 99, 99))), old);
        assert_eq!(of(Some(Version(25, 0, 7))), Defects::empty());
        assert_eq!(of(Some(Version(25, 0, 8))), new);
        assert_eq!(of(Some(Version(99, 0, 0))), new);
        assert_eq!(of(None), old | new);
    }
}
