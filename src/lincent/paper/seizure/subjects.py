"""The twelve subjects of the paper's seizure set (its table of details), and a folder against them.

Subjects 1 to 4 are the dogs of the 2014 seizure detection challenge, 5 to 12 its patients. The
paper prints channels, sampling rate and the number of ictal and interictal seconds; it prints no
number of events, so events are counted and reported but cannot be compared.
"""

from __future__ import annotations

from dataclasses import dataclass

HOW = (
    "accept the rules of the Kaggle competition seizure-detection, unpack clips.tar.gz so that "
    "DIR/Dog_1/Dog_1_ictal_segment_1.mat is there, and run lincent reproduce --seizure DIR"
)
"""How to get the recordings, which are behind a login."""


@dataclass(frozen=True)
class Subject:
    """One line of the paper's table; ``folder`` is the name in the challenge.

    Parameters
    ----------
    number : int
        The paper's number.
    folder : str
        The name of its folder in the challenge.
    channels : int
        How many electrodes.
    rate : int
        Samples per second.
    ictal : int
        Segments during a seizure.
    interictal : int
        Segments between seizures.
    """

    number: int
    folder: str
    channels: int
    rate: int
    ictal: int
    interictal: int

    @property
    def code(self) -> str:
        """The name in the paper's result table."""
        return f"Subject{self.number}"

    @property
    def features(self) -> int:
        """49 magnitudes for each channel."""
        return 49 * self.channels


SUBJECTS: tuple[Subject, ...] = (
    Subject(1, "Dog_1", 16, 400, 178, 418),
    Subject(2, "Dog_2", 16, 400, 172, 1148),
    Subject(3, "Dog_3", 16, 400, 480, 4760),
    Subject(4, "Dog_4", 16, 400, 257, 2790),
    Subject(5, "Patient_1", 68, 500, 70, 104),
    Subject(6, "Patient_2", 16, 5000, 151, 2990),
    Subject(7, "Patient_3", 55, 5000, 327, 714),
    Subject(8, "Patient_4", 72, 5000, 20, 190),
    Subject(9, "Patient_5", 64, 5000, 135, 2610),
    Subject(10, "Patient_6", 30, 5000, 225, 2772),
    Subject(11, "Patient_7", 36, 5000, 282, 3239),
    Subject(12, "Patient_8", 16, 5000, 180, 1710),
)


def find_subject(name: str | int) -> Subject | None:
    """Return the subject of a number, a code (``Subject3``) or a folder name (``Dog_3``), or None.

    Parameters
    ----------
    name : str or int
        A number, a code or a folder's name.

    Returns
    -------
    Subject or None
        The subject, or None where there is no such one.

    Examples
    --------
    >>> from lincent.paper.seizure import find_subject
    >>> find_subject("Dog_3").code, find_subject(8).features
    ('Subject3', 3528)
    """
    key = str(name).lower()
    for subject in SUBJECTS:
        if key in (str(subject.number), subject.code.lower(), subject.folder.lower()):
            return subject
    return None


def differences(
    subject: Subject, *, ictal: int, interictal: int, channels: int, rate: float
) -> list[str]:
    """Return one message for each number that is not the paper's.

    Parameters
    ----------
    subject : Subject
        Which subject.
    ictal : int
        How many segments of seizures were found.
    interictal : int
        How many others were found.
    channels : int
        How many electrodes were found.
    rate : float
        The sampling rate that was found.

    Returns
    -------
    list of str
        One message for each.

    Examples
    --------
    >>> from lincent.paper.seizure import differences, find_subject
    >>> differences(find_subject(1), ictal=178, interictal=400, channels=16, rate=399.6)
    ['Subject1 (Dog_1) has 400 interictal segments here and 418 in the paper.']
    """
    found = {
        "ictal segments": (ictal, subject.ictal),
        "interictal segments": (interictal, subject.interictal),
        "channels": (channels, subject.channels),
    }
    label = f"{subject.code} ({subject.folder})"
    sentences = [
        f"{label} has {here} {what} here and {printed} in the paper."
        for what, (here, printed) in found.items()
        if here != printed
    ]
    # The files hold an average rate, such as 399.61 where the paper says 400.
    if abs(rate - subject.rate) > 0.01 * subject.rate:
        sentences.append(f"{label} has {rate:g} Hz here and {subject.rate} Hz in the paper.")
    return sentences
